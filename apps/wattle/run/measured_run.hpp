// One run of a command, measured: what `wattle run` does once, and `wattle bench` again and again.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/report.hpp"
#include "run/instruments.hpp"
#include "run/launcher.hpp"
#include "run/run_options.hpp"
#include "run/running_output.hpp"
#include "run/supervisor.hpp"
#include "run/task_clock.hpp"
#include "sensors/sensor.hpp"
#include "usage/files/usage_files.hpp"

namespace wattle::app {

/// The devices to read.
struct FoundSensors {
  std::vector<std::unique_ptr<Sensor>> sensors;
  ObservedGpus gpus;
};

/// Surveys the machine, unless the report leaves the energy out. What cannot be read goes into the
/// report.
[[nodiscard]] FoundSensors find_sensors(const RunOptions& options, Report& report);

/// A command that waits to be started, and what takes part in its run.
struct RunParts {
  const RunOptions& options;
  Launcher& launcher;
  const TaskClock& task_clock;
  Supervisor& supervisor;
  std::optional<SeriesFile> series{};
  std::optional<UnitRows> unit_rows{};
  detail::UnitDone on_unit{};
  std::unique_ptr<UsageFiles> files{};
  int drained = -1;          ///< read while the command runs, and forgotten; -1: nothing
  bool keeps_power = false;  ///< over time, in the report
  /// Where the instruments are made, if this process ends soon after the run; null: they are closed
  /// when the run has ended.
  std::optional<Instruments>* instruments = nullptr;
};

struct MeasuredRun {
  std::optional<ExecFailure> failure;  ///< the command was never executed
  std::vector<std::string> lost;       ///< what could not be written to the end: sentences
};

/// Releases the command, reads until it has ended, and fills what `begin_report` and `find_sensors`
/// left. `strangers`: children of this process that are not the command's.
[[nodiscard]] MeasuredRun measure_run(RunParts parts, FoundSensors found, std::set<pid_t> strangers,
                                      Report& report);

}  // namespace wattle::app
