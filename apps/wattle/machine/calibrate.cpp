// `wattle calibrate`: the sensors of a run against an external meter.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>

#include "base/files/state_folder.hpp"
#include "base/numbers/value_range.hpp"
#include "base/text/text.hpp"
#include "calibration/kept_calibration.hpp"
#include "calibration/meter_table.hpp"
#include "calibration/series_table.hpp"
#include "machine/calibrate_options.hpp"
#include "machine/calibrate_text.hpp"
#include "output/output.hpp"
#include "run_monitor/tables/table_file.hpp"
#include "run_monitor/tables/time_text.hpp"

namespace wattle::app {
namespace {

constexpr int kSensorDisagrees = 1;
constexpr int kNothingCompared = 2;

/// Reads a file into a table; returns what is wrong with it, else nothing.
template <class Table>
std::string problem_of(const std::string& path, Table& table) {
  const SummaryProgress no_progress;
  ReadBytes read(no_progress);
  const SummaryFile file = TableFile(path, 0).read_into(table, read);
  return file.problem;
}

/// From the first to the last moment of all.
using TimeRange = ValueRange;

TimeRange range_of(const std::vector<RecordedDomainPower>& domains) {
  TimeRange range;
  for (const RecordedDomainPower& domain : domains) {
    if (domain.power.empty()) continue;
    range.add(domain.power.begin_s());
    range.add(domain.power.end_s());
  }
  return range;
}

TimeRange range_of(const std::vector<MeterSample>& samples) {
  TimeRange range;
  for (const MeterSample& sample : samples) range.add(sample.time_s);
  return range;
}

/// Around what is stated; for times that start anywhere, wherever half of the run is covered.
ShiftRange shifts_of(const CalibrateOptions& options, const MeterTable& meter,
                     const TimeRange& run) {
  constexpr double kAround = 60.0;
  const double stated_s = options.shift_s.value_or(0.0);
  if (!meter.is_relative() || options.shift_s) {
    return {.least_s = stated_s - kAround, .most_s = stated_s + kAround};
  }
  const TimeRange log = range_of(meter.samples());
  const double half_s = (run.high - run.low) / 2.0;
  return {.least_s = log.low - run.low - half_s, .most_s = log.high - run.high + half_s};
}

/// Why a log and a run cannot be of one time, as the clocks show them; else empty.
std::string why_apart(const TimeRange& run, const TimeRange& log, const ShiftRange& shift) {
  const double most_begin_s = log.low - shift.most_s;
  const double least_end_s = log.high - shift.least_s;
  if (most_begin_s < run.high && least_end_s > run.low) return {};
  return fmt::format(
      "the meter's log and the run do not overlap\n  meter: {} to {}\n  run:   {} to {}\n  if the "
      "meter's clock is of another zone, state by how much it is ahead: --shift {:.0f}",
      utc_text(log.low), utc_text(log.high), utc_text(run.low), utc_text(run.high),
      log.low - run.low);
}

int failed(const std::string& message) {
  print_message("calibrate", message);
  return kNothingCompared;
}

}  // namespace

int execute(const CalibrateOptions& options) {
  MeterTable meter({.power = options.column, .unit = options.unit});
  std::string problem = problem_of(options.meter, meter);
  if (!meter.problem().empty()) problem = meter.problem();
  if (!problem.empty()) return failed(printable(options.meter) + ": " + problem);
  SeriesTable series;
  for (const std::string& path : options.series) {
    problem = problem_of(path, series);
    if (!problem.empty()) return failed(printable(path) + ": " + problem);
  }
  const std::vector<RecordedDomainPower> domains = series.domains();
  const TimeRange run = range_of(domains);
  if (run.is_empty()) return failed("the run shows no power of a CPU, DRAM or GPU");
  const ShiftRange shift = shifts_of(options, meter, run);
  if (!meter.is_relative()) {
    problem = why_apart(run, range_of(meter.samples()), shift);
    if (!problem.empty()) return failed(problem);
  }
  CalibrationReport report;
  report.meter =
      options.meter == "-" ? "stdin" : std::filesystem::path(options.meter).filename().string();
  report.column = meter.column();
  report.has_start = !meter.is_relative();
  report.efficiency = options.efficiency;
  report.overlapping = series.left_out();
  report.calibration = calibrated(meter.samples(), domains, {.shift = shift});
  const bool is_known = report.calibration.problem.empty();
  KeptCalibration kept = kept_of(report.calibration, options.efficiency);
  if (is_known && options.keeps && !kept.sensors.empty()) {
    kept.host = this_host();
    kept.taken_unix_s = run.high;
    kept.meter = printable(report.meter);
    report.kept = host_state_file("calibration", kept.host);
    put_in_state_folder(report.kept, to_json(kept));
  }
  if (options.json) {
    Output::open("-", false).write(calibration_json(report));
  } else if (is_known) {
    Output::open("-", false).write(calibration_text(report));
  }
  if (!is_known) return failed(report.calibration.problem);
  return has_disagreement(report.calibration) ? kSensorDisagrees : 0;
}

}  // namespace wattle::app
