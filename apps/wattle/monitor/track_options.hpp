// The command line of `wattle track`.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "wattle/tracker.hpp"

namespace wattle::app {

/// `wattle track`.
struct TrackOptions {
  TrackerOptions tracker;
  std::optional<std::chrono::nanoseconds> duration{};  ///< absent: until the process ends
  std::string json_path;                               ///< empty: none; "-": stdout
  std::optional<std::string> recovered_path{};         ///< a usage file to read instead
  bool estimate = false;                               ///< a range where no sensor covers the CPU
};

int execute(const TrackOptions& options);

}  // namespace wattle::app
