// The programs under test and their files, for all tests of this folder.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fakes/temp_folder.hpp"
#include "process.hpp"

namespace wattle::integration {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

/// What wattle exits with where it was asked wrongly, and where it failed itself.
inline constexpr int kUsage = 64;
inline constexpr int kFailed = 125;
/// And as shells do, where a command cannot be executed, or is not there.
inline constexpr int kNotExecutable = 126;
inline constexpr int kNotFound = 127;

[[nodiscard]] std::string wattle_program();
[[nodiscard]] std::string child_program();
[[nodiscard]] std::string player_program();
/// The example that measures a command by itself.
[[nodiscard]] std::string measuring_program();

[[nodiscard]] Words operator+(Words left, const Words& right);

/// `wattle WORDS`
[[nodiscard]] Start wattle(const Words& words);
/// `wattle run OPTIONS -- CMD`
[[nodiscard]] Start wattle_run(const Words& options, const Words& command);
/// test_child with these actions (test_child.cpp tells them).
[[nodiscard]] Words child(const Words& actions);

/// The file's content; a failure of the test where it cannot be read.
[[nodiscard]] std::string content_of(const std::filesystem::path& path);
/// The one JSON value in `text`; null and a failure of the test where it is none.
[[nodiscard]] Json parse_json(const std::string& text);
[[nodiscard]] std::vector<std::string> keys_of(const Json& object);

/// True for the report for people, on a machine with sensors and without.
[[nodiscard]] bool has_report(const std::string& text);

/// How a run ended, and its JSON.
struct Measured {
  Outcome outcome;
  Json json;
};

/// A test with a folder of its own.
class CommandTest : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path path(const std::string& name) const {
    return folder_.path() / name;
  }
  /// Runs `wattle run --quiet --json FILE OPTIONS -- COMMAND` to its end.
  [[nodiscard]] Measured measure(const Words& options, const Words& command) const;
  /// As `measure`, in other surroundings than those of `wattle_run`.
  [[nodiscard]] Measured measure_in(Start surroundings, const Words& options,
                                    const Words& command) const;

  /// `wattle track --pid TARGET OPTIONS`, beside no GPUs.
  [[nodiscard]] Start wattle_track(pid_t target, const Words& options) const;

  fakes::TempFolder folder_;
};

}  // namespace wattle::integration
