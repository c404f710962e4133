// A hardware monitor of two GPUs of a scripted driver.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "../power/heard_log.hpp"
#include "fakes/nvml/control.hpp"
#include "fakes/temp_folder.hpp"
#include "original_reader.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle {

inline constexpr const char* kTwoGpus =
    "gpu A\npower step 0 100\nuuid GPU-aaaa\nutilization 80 30\n"
    "memory 80000000000 1048576000\ntemperature 45\nclocks 1410 1593\n"
    "gpu B\npower step 0 200\nuuid GPU-bbbb\nutilization 80 30\n"
    "memory 80000000000 1048576000\ntemperature 45\nclocks 1410 1593\n";

class HardwareMonitorTest : public testing::Test {
 protected:
  /// Beside the GPUs of `script` there is the machine's own /proc.
  explicit HardwareMonitorTest(const char* script = kTwoGpus) : nvml_(script) {
    nvml_.let_time_pass();
    system_ = nvml_.system();
    system_.procfs = "/proc";
  }
  [[nodiscard]] std::filesystem::path path(const char* name) const { return out_ / name; }
  [[nodiscard]] HardwareMonitorOptions options(HardwareMonitorOptions chosen = {}) const {
    chosen.system = system_;
    return chosen;
  }
  [[nodiscard]] std::vector<std::string> lines(const char* name) const {
    return original_reader::lines_of(path(name));
  }
  [[nodiscard]] bool has_rows(const char* name, std::size_t rows) const {
    return fakes::eventually([&] { return lines(name).size() >= rows; });
  }

  fakes::FakeNvml nvml_;
  fakes::TempFolder folder_;
  std::filesystem::path out_ = folder_.path() / "new" / "deep";
  System system_;
  power_test::HeardLog heard_;
};

inline constexpr auto kQuick = std::chrono::milliseconds(5);

}  // namespace wattle
