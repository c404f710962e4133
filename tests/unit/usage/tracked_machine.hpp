// A machine of files for tests of the tracker.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "fakes/process_files.hpp"
#include "fakes/virtual_clock.hpp"
#include "usage/tracked_process.hpp"
#include "wattle/error.hpp"

namespace wattle {

/// Process 100 of a machine of files, without GPUs.
class TrackedMachine : public testing::Test {
 protected:
  TrackedMachine() {
    files_.put({.pid = 100});
    files_.folder().write("stat", "cpu 0 0 0 0 0 0 0 0 0 0\ncpu0 0\ncpu1 0\nintr 0\n");
    files_.folder().write("meminfo", "MemTotal: 1000000 kB\nMemAvailable: 600000 kB\n");
    options_.process_id = 100;
    options_.system = files_.system();
    options_.system.sysfs = files_.folder().path() / "sys";
    options_.system.nvml_library = (files_.folder().path() / "none.so").string();
    options_.time_unit = "seconds";
    options_.ram_unit = "bytes";
    options_.resource_usage_file = "";  // none in the user's own folder
  }
  [[nodiscard]] std::filesystem::path path(const char* name) const {
    return files_.folder().path() / name;
  }
  [[nodiscard]] std::string message() const {
    try {
      (void)observe_process(options_, clock_);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  fakes::ProcessFiles files_;
  fakes::VirtualClock clock_;
  TrackerOptions options_;
};

}  // namespace wattle
