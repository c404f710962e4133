#include "machine/calibrate_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "base/text/option_words.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "cli/subcommand.hpp"
#include "cli/value_option.hpp"
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

/// The options as they are written.
struct RawCalibrate {
  CalibrateOptions calibrate;
  std::string shift;
  std::string efficiency;
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
  add_value(command, "--shift", shift, "SECONDS",
            "By how much the meter's clock is ahead, within 60 s");
  add_value(command, "--efficiency", efficiency, "PERCENT",
            "Efficiency of the power supply, or a range such as 88-94; 100 for a meter after it");
  command.add_flag("--no-keep", is_not_kept, "Do not keep the result for later runs");
  command.add_flag("--json", calibrate.json, "As JSON on stdout");
}

CalibrateOptions RawCalibrate::checked(const CommandLine& /*line*/) const {
  constexpr WordTable<bool, 3> kUnits = {{{"W", true}, {"mW", true}, {"kW", true}}};
  constexpr double kMostShift = 1e10;
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
  if (!efficiency.empty()) options.efficiency = parse_efficiency(efficiency);
  if (shift.empty()) return options;
  options.shift_s = parse_double(shift);
  if (!options.shift_s || std::abs(*options.shift_s) > kMostShift) {
    throw InvalidArgument(
        fmt::format("--shift takes a number of seconds, not '{}'", printable(shift)));
  }
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
