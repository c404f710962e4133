// Options, values and actions that several sub-commands have.
#pragma once

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/cli11.hpp"
#include "base/text/option_words.hpp"
#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "sensors/sensor.hpp"
#include "wattle/error.hpp"
#include "wattle/system.hpp"

namespace wattle::app {

/// The options for the folders and the library to read, as they are written.
struct RawRoots {
  System system = System::from_environment();
  std::string sysfs;  ///< empty: that of `system`, as the next two
  std::string procfs;
  std::string nvml_library;
};

/// Adds --sysfs, --procfs and --nvml-library. `raw` outlives the parsing.
void add_roots(CLI::App& command, RawRoots& raw);
/// The system to read. Throws `InvalidArgument` if an option is given to a program that has
/// privileges of its own: see `System`.
[[nodiscard]] System system_of(const RawRoots& raw);

/// Adds --estimate. `estimate` outlives the parsing.
CLI::Option* add_estimate(CLI::App& command, bool& estimate);

/// The help of --gpus.
inline constexpr const char* kGpusHelp =
    "GPUs: all, none, visible (to CUDA and HIP programs), or comma-separated numbers, UUIDs, PCI "
    "addresses";

/// "0.1" seconds to nanoseconds; throws `InvalidArgument`, which names the option, unless it is a
/// number from `least` to `most`.
[[nodiscard]] std::chrono::nanoseconds parse_seconds(const std::string& text,
                                                     std::string_view option, double least,
                                                     double most);

/// "0.1" seconds to nanoseconds; throws `InvalidArgument`, which names the option, unless it is a
/// number from 0.001 to 3600.
[[nodiscard]] std::chrono::nanoseconds parse_interval(const std::string& text,
                                                      std::string_view option = "--interval");

// For `ParsedOptions`.

[[nodiscard]] inline auto seconds_within(double least, double most) {
  return [=](const std::string& text, std::string_view option) {
    return parse_seconds(text, option, least, most);
  };
}

/// A whole number from `least` to `most`; else the error is "OPTION takes WHAT, not 'TEXT'".
template <std::integral Number>
[[nodiscard]] auto number_within(Number least, Number most, std::string what) {
  return [=](const std::string& text, std::string_view option) {
    const auto number = parse_unsigned<std::uint64_t>(text);
    if (number && std::cmp_less_equal(least, *number) && std::cmp_less_equal(*number, most)) {
      return static_cast<Number>(*number);
    }
    throw InvalidArgument(fmt::format("{} takes {}, not '{}'", option, what, printable(text)));
  };
}

template <class Value, std::size_t Size>
[[nodiscard]] auto word_of(const WordTable<Value, Size>& table) {
  return [table](const std::string& text, std::string_view option) {
    return value_of_word(option, text, table);
  };
}

/// The source of refusals of GPUs that were left out.
inline constexpr const char* kGpuChoice = "--gpus";

/// As `GpuSelection::parse`.
[[nodiscard]] GpuSelection parse_gpus(const std::string& text);

/// `survey_chosen`, with refusals that say which GPUs were left out. Throws `InvalidArgument` where
/// `survey_chosen` throws.
[[nodiscard]] Survey survey_gpus(const System& system, DomainKinds kinds, const GpuSelection& gpus);

/// The first word of `words` as one of `known`. Throws `InvalidArgument`.
template <class Action, std::size_t N>
Action action_of(const std::vector<std::string>& words,
                 const std::array<std::pair<std::string_view, Action>, N>& known) {
  std::vector<std::string> names;
  for (const auto& [name, action] : known) {
    if (words.front() == name) return action;
    names.emplace_back(name);
  }
  throw InvalidArgument(fmt::format("unknown action {}{}", shell_quoted(words.front()),
                                    did_you_mean(words.front(), names)));
}

void add_html(CLI::App& app, std::string& path);

/// Throws `InvalidArgument` if JSON and a page would both go to stdout. `path`: empty, no page.
void check_page_path(const std::string& path, bool is_json);

/// The text to stdout, and what `page` returns to the file; a page on stdout takes the place of the
/// text. Throws as `Output`.
void write_result(const std::string& text, const std::string& page_path,
                  const std::function<std::string()>& page);

}  // namespace wattle::app
