// The sub-commands.
#pragma once

#include "cli/options.hpp"

namespace wattle::app {

// Each executes a sub-command, and returns the exit status of the program.

/// May end the process itself, by the command's signal.
int execute(const RunOptions& options);
/// After Ctrl-C it ends the process itself, by that signal.
int execute(const BenchOptions& options);
int execute(const CompareOptions& options);
int execute(const SensorsOptions& options);
int execute(const DoctorOptions& options);
/// `wattle power` and `wattle energy`.
int execute(const PowerOptions& options);
int execute(const TrackOptions& options);
/// With a command as `wattle run`: may end the process itself.
int execute(const MonitorOptions& options);
int execute(const SummaryOptions& options);
int execute(const HistoryOptions& options);
int execute(const ConfigOptions& options);
int execute(const MarkOptions& options);
int execute(const ReportOptions& options);
int execute(const BaselineOptions& options);
int execute(const CalibrateOptions& options);
int execute(const TopOptions& options);
/// Becomes the program wattle-stream; returns where that fails.
int execute(const StreamWords& options);

/// `wattle doctor --fix`. Requires `options.fix`.
int fix(const DoctorOptions& options);

}  // namespace wattle::app
