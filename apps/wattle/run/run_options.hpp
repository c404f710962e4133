// The command line of `wattle run`.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "history/save_run.hpp"
#include "otlp/otlp_target.hpp"
#include "wattle/system.hpp"

namespace wattle::app {

struct RunOptions {
  System system;
  std::vector<std::string> command;
  std::chrono::nanoseconds interval{0};
  std::chrono::nanoseconds status{0};  ///< between two status lines; 0: none
  std::string report_path;             ///< empty: stderr
  std::string json_path;               ///< empty: none; "-": stdout
  std::string html_path;               ///< empty: none; "-": stdout
  std::string series_path;             ///< empty: none
  std::string units_path;              ///< empty: none
  std::string gpus = "all";            ///< see `parse_gpus`
  /// As in `TrackerOptions`.
  std::string ram_unit = "gigabytes";
  std::string gpu_ram_unit = "gigabytes";
  std::string time_unit = "seconds";
  std::string tracking_path;  ///< empty: none
  std::string usage_path;     ///< empty: in the state folder
  bool append = false;
  bool quiet = false;
  bool verbose = false;  ///< a report of each GPU, and of the idle power
  bool every_rank = false;
  bool task_clock = false;  ///< see task_clock.hpp
  SaveOptions saving{};
  std::optional<otlp::OtlpTarget> otlp{};  ///< absent: nothing is sent
  bool estimate = false;                   ///< a range where no sensor covers the CPU
};

/// May end the process itself, by the command's signal.
int execute(const RunOptions& options);

}  // namespace wattle::app
