// The command line of `wattle track`.
#pragma once

#include <string>

#include "cli/options.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
class Option;
}  // namespace CLI

namespace wattle::app {

/// What the options are read into before they are checked.
struct RawTrackOptions {
  TrackOptions track;
  std::string pid;
  std::string duration;
  std::string sleep_time = "1";
  std::string expected_cores;
  std::string gpu_uuids;
  std::string gpu_brand;
  std::string tracking_file;
  std::string usage_file;
  std::string recover;
};

/// `--estimate`, which means the same everywhere.
CLI::Option* add_estimate(CLI::App& command, bool& estimate);

/// `raw` outlives the parsing.
CLI::App* add_track(CLI::App& app, RawTrackOptions& raw);
/// Throws `InvalidArgument`.
[[nodiscard]] TrackOptions checked_track(const RawTrackOptions& raw, const System& system);

}  // namespace wattle::app
