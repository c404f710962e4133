// Fills the report of a run from what was read and collected.
#pragma once

#include <cstdint>
#include <optional>

#include "report/report.hpp"
#include "run/instruments.hpp"
#include "run/job.hpp"
#include "run/run_options.hpp"
#include "run/supervisor.hpp"
#include "run/task_clock.hpp"
#include "sensors/sensor.hpp"

namespace wattle::app {

/// The parts of the report that are known before the command starts.
[[nodiscard]] Report begin_report(const RunOptions& options, const Job& job);

/// Fills in the boot and the processors.
void describe_host(const System& system, Host& host);

/// True if a GPU is known, whether it can be read or not.
[[nodiscard]] bool names_gpus(const Survey& found);

/// The frame of a run that has ended.
struct RunFrame {
  TimePoint begin;
  TimePoint end;
  std::uint64_t late = 0;  ///< ticks that were skipped
  std::optional<std::uint64_t> launcher_rss_bytes;
  bool wants_course = false;  ///< power over time, for plots
};

/// Everything else, after the command has ended.
void fill_report(Report& report, const RunFrame& frame, const Instruments& instruments,
                 const CollectedCommand& collected, const TaskClock& task_clock);

}  // namespace wattle::app
