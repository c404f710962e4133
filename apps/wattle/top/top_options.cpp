#include "top/top_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "base/text/option_words.hpp"
#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "cli/value_option.hpp"
#include "monitor/track_options.hpp"
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

double parse_speed(const std::string& text) {
  constexpr double kSlowest = 1.0 / 64.0;
  constexpr double kFastest = 4096.0;
  const auto speed = parse_number<double>(text);
  const bool is_within = speed && *speed >= kSlowest && *speed <= kFastest;  // NaN is not
  if (!is_within) {
    throw InvalidArgument(
        fmt::format("--speed takes a number from 0.015625 to 4096, not '{}'", printable(text)));
  }
  return *speed;
}

}  // namespace

CLI::App* add_top(CLI::App& app, RawTopOptions& raw) {
  CLI::App* command = app.add_subcommand("top", "Show power, energy, and who uses them, live");
  command->footer(kTopFooter);
  CLI::Option* servers =
      command->add_option("SERVER", raw.servers, "Where daemons listen: show their machines")
          ->type_name("");
  CLI::Option* once = command->add_flag("--once", raw.once, "Print one table and end");
  add_value(*command, "--seconds", raw.length, "SECONDS",
            "Seconds to measure with --once, from 0.1 to 3600")
      ->needs(once);
  CLI::Option* period =
      add_value(*command, "--period", raw.period, "SECONDS", "Seconds between two screens")
          ->excludes(once);
  add_value(*command, "--by", raw.key, "WHAT",
            "One row per command, user, cgroup, container, pod or process");
  CLI::Option* estimate = add_estimate(*command, raw.estimate);
  command->add_flag("--json", raw.json, "JSON lines, one per period; with --once one line");
  CLI::Option* record =
      add_value(*command, "--record", raw.record, "FILE", "Write every period to FILE as well")
          ->excludes(once);
  CLI::Option* replay =
      add_value(*command, "--replay", raw.replay, "FILE", "Show a recording instead of the machine")
          ->excludes(once)
          ->excludes(period)
          ->excludes(record)
          ->excludes(estimate);
  add_value(*command, "--speed", raw.speed, "FACTOR",
            "Replay faster or slower, from 0.015625 to 4096 times")
      ->needs(replay);
  add_value(*command, "--price", raw.price, "PRICE",
            "Price of a kWh and its currency, such as 0.30EUR: a unit to convert to")
      ->excludes(once);
  add_value(*command, "--carbon", raw.carbon, "GRAMS", "Grams of CO2 per kWh: likewise")
      ->excludes(once);
  add_value(*command, "--token-file", raw.token_file, "FILE",
            "A file with the token for the servers (ZEUSD_TOKEN)")
      ->needs(servers);
  add_value(*command, "--ca-file", raw.ca_file, "FILE",
            "Certificates to trust instead of the system's")
      ->needs(servers);
  for (CLI::Option* other : {once, estimate, replay}) servers->excludes(other);
  command->add_flag("--ascii", raw.ascii, "No characters but those of ASCII");
  return command;
}

TopOptions checked_top(const RawTopOptions& raw, const System& system) {
  constexpr WordTable<TopKey, 6> kTopKeys = {{{"command", TopKey::command},
                                              {"user", TopKey::user},
                                              {"cgroup", TopKey::cgroup},
                                              {"container", TopKey::container},
                                              {"pod", TopKey::pod},
                                              {"process", TopKey::process}}};
  TopOptions options{.system = system,
                     .once = raw.once,
                     .length = raw.once ? parse_seconds(raw.length, "--seconds", 0.1, 3600.0)
                                        : parse_seconds(raw.period, "--period", 0.1, 3600.0),
                     .key = value_of_word("--by", raw.key, kTopKeys),
                     .json = raw.json,
                     .estimate = raw.estimate,
                     .servers = raw.servers,
                     .token_file = raw.token_file,
                     .ca_file = raw.ca_file,
                     .record = raw.record,
                     .replay = raw.replay,
                     .speed = parse_speed(raw.speed),
                     .ascii = raw.ascii};
  options.units.push_back({.kind = TopUnit::Kind::kilowatt_hours});
  if (!raw.price.empty()) options.units.push_back(parse_price(raw.price));
  if (!raw.carbon.empty()) options.units.push_back(parse_carbon(raw.carbon));
  return options;
}

}  // namespace wattle::app
