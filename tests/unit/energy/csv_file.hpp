// A file that a CSV handler writes.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fakes/temp_folder.hpp"
#include "unit/energy/samples.hpp"
#include "wattle/error.hpp"
#include "wattle/handlers.hpp"

namespace wattle {

using testing_samples::joules;
using testing_samples::sample;

inline constexpr testing_samples::Facts kOneTwo = {.timestamp_unix_s = 1.0, .duration_s = 2.0};

/// A sample whose row is "1.0;TAG;2.0;1.0;2.0".
inline EnergyTrace one_row(const std::string& tag) {
  return EnergyTrace({sample(tag, {{"d1", joules(1e-6)}, {"d2", joules(2e-6)}}, kOneTwo)});
}

inline constexpr const char* kHeader = "timestamp;tag;duration;d1;d2\n";

class CsvHandlerTest : public testing::Test {
 protected:
  CsvHandlerTest() {
    set_log([this](std::string_view message) { messages_.emplace_back(message); });
  }
  ~CsvHandlerTest() override { set_log({}); }

  [[nodiscard]] std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& content) { folder_.write("trace.csv", content); }
  void save(const EnergyTrace& trace) {
    CsvHandler handler(path_);
    handler.process(trace);
    handler.save_data();
  }
  /// The `errno` of the `WriteError` that saving to `path` throws; 0 where it throws none.
  int error_of_saving_to(const std::filesystem::path& path) {
    CsvHandler handler(path);
    handler.process(one_row("a"));
    try {
      handler.save_data();
    } catch (const WriteError& error) {
      EXPECT_EQ(error.path(), path.string());
      return error.error_number();
    }
    return 0;
  }

  fakes::TempFolder folder_;
  std::filesystem::path path_ = folder_.path() / "trace.csv";
  std::vector<std::string> messages_;
};

}  // namespace wattle
