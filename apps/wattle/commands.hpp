// The sub-commands. Each returns the exit status of the program.
#pragma once

#include "options.hpp"

namespace wattle::app {

/// May end the process itself, by the command's signal.
int run(const RunOptions& options);
/// After Ctrl-C it ends the process itself, by that signal.
int bench(const BenchOptions& options);
int compare(const CompareOptions& options);
int sensors(const SensorsOptions& options);
int doctor(const DoctorOptions& options);
/// `wattle doctor --fix`. Requires `options.fix`.
int fix(const DoctorOptions& options);
/// `wattle power` and `wattle energy`.
int power(const PowerOptions& options);
int track(const TrackOptions& options);
/// With a command as `run`: may end the process itself.
int monitor(const MonitorOptions& options);
int summary(const SummaryOptions& options);
int history(const HistoryOptions& options);
int config(const ConfigOptions& options);
int mark(const MarkOptions& options);
int report(const ReportOptions& options);
int baseline(const BaselineOptions& options);
int top(const TopOptions& options);
/// Becomes the program wattle-stream; returns where that fails.
int stream(const StreamWords& options);

}  // namespace wattle::app
