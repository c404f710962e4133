// The command line as it is written, before it is checked.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bench_options.hpp"
#include "cli/options.hpp"
#include "history/history_options.hpp"
#include "machine/calibrate_options.hpp"
#include "monitor/track_options.hpp"
#include "top/top_options.hpp"

namespace wattle::app {

/// What the options are read into before they are checked.
struct RawOptions {
  System system = System::from_environment();
  std::string sysfs;
  std::string procfs;
  std::string nvml_library;
  std::string interval = "0.1";
  std::string status;  ///< empty: none
  bool json = false;
  bool cross_check = false;
  bool measure = false;
  std::optional<std::string> fix;
  bool apply = false;
  bool verbose = false;
  std::string period = "1";
  std::string gpus = "all";
  std::string domain;
  bool csv = false;
  RawTrackOptions track;
  std::string monitor_interval = "2";
  MonitorOptions monitor;
  std::optional<std::string> allocator_peak;
  std::optional<std::string> gpus_in_file;
  SummaryOptions summary;
  RunOptions run;
  RawSaveOptions save;
  RawHistoryOptions history;
  RawBenchOptions bench;
  RawCompareOptions compare;
  RawCalibrateOptions calibrate;
  std::string baseline_length = "30";
  RawTopOptions top;
};

/// Adds the options of the sub-command `only`, or of all if there is no such sub-command: to add
/// those of one takes a tenth of the time. `raw` outlives the parsing.
void add_commands(CLI::App& app, RawOptions& raw, std::string_view only);

}  // namespace wattle::app
