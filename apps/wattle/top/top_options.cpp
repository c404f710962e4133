#include "top/top_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "base/text/option_words.hpp"
#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "cli/shared_options.hpp"
#include "cli/subcommand.hpp"
#include "cli/value_option.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr const char* kTopFooter = R"(
On a terminal it redraws the devices and who uses them once a period; ? lists the keys, q quits.
Energy is counted since the start, bursts shorter than a period included. Shares are not measured:
that of CPUs and DRAM is of the energy above idle, and needs wattle baseline. Power that cannot be
divided has a row with the reason; if none can, shares are those of CPU time. Shares that are known
add up to 100 %. Prices and CO2 are conversions of the energy.
Exit status: 0, 2 if nothing can be shown or Ctrl-C ends --once, 64 for a wrong option or FILE, 125 if
stdout or FILE cannot be written.

examples:
  wattle top
  wattle top --by user --price 0.30EUR
  wattle top node1:4747 node2:4747
  wattle top --once --by container --seconds 10
  wattle top --record top.jsonl
  wattle top --replay top.jsonl --speed 10
)";

/// The options as they are written.
struct RawTop {
  TopOptions top;
  ParsedOptions values;
  std::chrono::nanoseconds period{0};
  std::optional<TopUnit> price;
  std::optional<TopUnit> carbon;
  RawRoots roots;

  void add(CLI::App& command);
  [[nodiscard]] TopOptions checked(const CommandLine& line) const;
};

constexpr WordTable<TopKey, 6> kTopKeys = {{{"command", TopKey::command},
                                            {"user", TopKey::user},
                                            {"cgroup", TopKey::cgroup},
                                            {"container", TopKey::container},
                                            {"pod", TopKey::pod},
                                            {"process", TopKey::process}}};

double parse_speed(const std::string& text, std::string_view option) {
  constexpr double kSlowest = 1.0 / 64.0;
  constexpr double kFastest = 4096.0;
  const auto speed = parse_number<double>(text);
  const bool is_within = speed && *speed >= kSlowest && *speed <= kFastest;  // NaN is not
  if (!is_within) {
    throw InvalidArgument(
        fmt::format("{} takes a number from 0.015625 to 4096, not '{}'", option, printable(text)));
  }
  return *speed;
}

void RawTop::add(CLI::App& command) {
  command.footer(kTopFooter);
  CLI::Option* servers_option =
      command.add_option("SERVER", top.servers, "Where daemons listen: show their machines")
          ->type_name("");
  CLI::Option* once_option = command.add_flag("--once", top.once, "Print one table and end");
  values
      .add(command, "--seconds", top.length, "SECONDS",
           "Seconds to measure with --once, from 0.1 to 3600", seconds_within(0.1, 3600.0), "1")
      ->needs(once_option);
  CLI::Option* period_option =
      values
          .add(command, "--period", period, "SECONDS", "Seconds between two screens",
               seconds_within(0.1, 3600.0), "1")
          ->excludes(once_option);
  values.add(command, "--by", top.key, "WHAT",
             "One row per command, user, cgroup, container, pod or process", word_of(kTopKeys),
             "command");
  CLI::Option* estimate_option = add_estimate(command, top.estimate);
  command.add_flag("--json", top.json, "JSON lines, one per period; with --once one line");
  CLI::Option* record_option =
      add_value(command, "--record", top.record, "FILE", "Write every period to FILE as well")
          ->excludes(once_option);
  CLI::Option* replay_option =
      add_value(command, "--replay", top.replay, "FILE", "Show a recording instead of the machine")
          ->excludes(once_option)
          ->excludes(period_option)
          ->excludes(record_option)
          ->excludes(estimate_option);
  values
      .add(command, "--speed", top.speed, "FACTOR",
           "Replay faster or slower, from 0.015625 to 4096 times", parse_speed, "1")
      ->needs(replay_option);
  values
      .add(command, "--price", price, "PRICE",
           "Price of a kWh and its currency, such as 0.30EUR: a unit to convert to", parse_price)
      ->excludes(once_option);
  values.add(command, "--carbon", carbon, "GRAMS", "Grams of CO2 per kWh: likewise", parse_carbon)
      ->excludes(once_option);
  add_value(command, "--token-file", top.token_file, "FILE",
            "A file with the token for the servers (ZEUSD_TOKEN)")
      ->needs(servers_option);
  add_value(command, "--ca-file", top.ca_file, "FILE",
            "Certificates to trust instead of the system's")
      ->needs(servers_option);
  for (CLI::Option* other : {once_option, estimate_option, replay_option})
    servers_option->excludes(other);
  command.add_flag("--ascii", top.ascii, "No characters but those of ASCII");
  add_roots(command, roots);
}

TopOptions RawTop::checked(const CommandLine& /*line*/) const {
  TopOptions options = top;
  options.system = system_of(roots);
  if (!options.once) options.length = period;
  options.units.push_back({.dimension = TopUnit::Dimension::kilowatt_hours});
  if (price) options.units.push_back(*price);
  if (carbon) options.units.push_back(*carbon);
  return options;
}

}  // namespace

extern constinit const Subcommand kTopSubcommand = {
    .name = "top",
    .group = HelpGroup::watch,
    .summary = "Show power, energy, and who uses them, live",
    .arguments = " [SERVER...]",
    .add = add_options<RawTop>,
    .run = execute_with<TopOptions>,
    .opens_counters = always};

}  // namespace wattle::app
