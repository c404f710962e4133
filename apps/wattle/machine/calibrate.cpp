// `wattle calibrate`: the sensors of a run against an external meter.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/files/state_folder.hpp"
#include "base/numbers/value_range.hpp"
#include "base/text/option_words.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "calibration/calibration.hpp"
#include "calibration/kept_calibration.hpp"
#include "calibration/meter_table.hpp"
#include "calibration/series_table.hpp"
#include "cli/subcommand.hpp"
#include "cli/value_option.hpp"
#include "machine/calibrate_text.hpp"
#include "output/output.hpp"
#include "run_monitor/tables/table_file.hpp"
#include "run_monitor/tables/time_text.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr const char* kCalibrateFooter = R"(
Compares the sensors of a run with the log of a wall meter, a PDU, a BMC or another power meter of
the same machine and time. SERIES are files of wattle run --series. FILE has a row per time: Unix
seconds or milliseconds, dates with a time (UTC without a zone), or seconds from any start. Units in
the titles of its columns are understood. The load must vary, for each device at times of its own;
60 s are enough for most. Reports the shift of the meter's clock, and for each sensor its gain, its
lag and whether it disagrees with the others. The result is kept in
$XDG_STATE_HOME/wattle/calibration (or ~/.local/state) for later runs on this machine.
Exit status: 0, 1 if a sensor disagrees, 2 if nothing can be compared, 64 for a wrong option, 125 if
the result cannot be written.

examples:
  wattle run --series run.csv -- ./varied-load
  wattle calibrate --meter pdu.csv run.csv
  wattle calibrate --meter bmc.csv --column "PSU1 input [W]" --shift 3600 run.csv
)";

struct CalibrateOptions {
  std::vector<std::string> series{};  ///< files of `wattle run --series`
  std::string meter{};                ///< a file; "-": stdin
  std::string column{};               ///< empty: the file shows it
  std::string unit{};                 ///< the same
  std::optional<double> shift_s{};    ///< the meter's clock minus that of the run, about
  SupplyEfficiency efficiency{};
  bool keeps = true;
  bool json = false;
};

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

/// The options as they are written.
struct RawCalibrate {
  CalibrateOptions calibrate;
  ParsedOptions values;
  bool is_not_kept = false;

  void add(CLI::App& command);
  [[nodiscard]] CalibrateOptions checked(const CommandLine& line) const;
};

/// "92" or "88-94", in percent.
SupplyEfficiency parse_efficiency(const std::string& text) {
  std::string_view rest = text;
  const auto least = parse_double(take_until(rest, '-'));
  const auto most = rest.empty() ? least : parse_double(rest);
  if (!least || !most || !(*least >= 30.0) || !(*most <= 100.0) || *least > *most) {
    throw InvalidArgument(fmt::format(
        "--efficiency takes a percentage from 30 to 100, or a range such as 88-94, not '{}'",
        printable(text)));
  }
  return {.least = *least / 100.0, .most = *most / 100.0, .is_stated = true};
}

double parse_shift(const std::string& text, std::string_view option) {
  constexpr double kMost = 1e10;
  const auto shift_s = parse_double(text);
  if (shift_s && std::abs(*shift_s) <= kMost) return *shift_s;
  throw InvalidArgument(
      fmt::format("{} takes a number of seconds, not '{}'", option, printable(text)));
}

void RawCalibrate::add(CLI::App& command) {
  command.footer(kCalibrateFooter);
  command.add_option("SERIES", calibrate.series, "Files of wattle run --series")
      ->type_name("")
      ->expected(0, 1000);
  add_value(command, "--meter", calibrate.meter, "FILE", "The meter's log, as CSV; - for stdin");
  add_value(command, "--column", calibrate.column, "NAME",
            "Title or number of the column that has the power");
  add_value(command, "--unit", calibrate.unit, "UNIT",
            "Unit of the power, where the file does not state it: W, mW, kW");
  values.add(command, "--shift", calibrate.shift_s, "SECONDS",
             "By how much the meter's clock is ahead, within 60 s", parse_shift);
  values.add(command, "--efficiency", calibrate.efficiency, "PERCENT",
             "Efficiency of the power supply, or a range such as 88-94; 100 for a meter after it",
             parse_efficiency);
  command.add_flag("--no-keep", is_not_kept, "Do not keep the result for later runs");
  command.add_flag("--json", calibrate.json, "As JSON on stdout");
}

CalibrateOptions RawCalibrate::checked(const CommandLine& /*line*/) const {
  constexpr WordTable<bool, 3> kUnits = {{{"W", true}, {"mW", true}, {"kW", true}}};
  CalibrateOptions options = calibrate;
  options.keeps = !is_not_kept;
  if (options.meter.empty()) {
    throw InvalidArgument("--meter is missing: wattle calibrate --meter FILE SERIES...");
  }
  if (options.series.empty()) {
    throw InvalidArgument(
        "give the files of wattle run --series: wattle calibrate --meter FILE "
        "SERIES...");
  }
  if (std::ranges::count(options.series, "-") > 0) {
    throw InvalidArgument("SERIES takes files; stdin is for --meter alone");
  }
  if (!options.unit.empty()) (void)value_of_word("--unit", options.unit, kUnits);
  return options;
}

}  // namespace

extern constinit const Subcommand kCalibrateSubcommand = {
    .name = "calibrate",
    .group = HelpGroup::set_up,
    .summary = "Compare the sensors of a run with an external meter",
    .arguments = " --meter FILE SERIES...",
    .add = add_options<RawCalibrate>,
    .run = execute_with<CalibrateOptions>};

}  // namespace wattle::app
