// `wattle sensors`: what can be measured here, and through what.
#include "machine/sensors.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/json/json_write.hpp"
#include "base/text/facts_text.hpp"
#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "base/text/text_style.hpp"
#include "cli/privileges.hpp"
#include "cli/shared_options.hpp"
#include "cli/subcommand.hpp"
#include "cli/value_option.hpp"
#include "machine/cross_check.hpp"
#include "machine/keep_measured.hpp"
#include "output/output.hpp"
#include "output/screen.hpp"
#include "run/measure.hpp"
#include "sensors/kept_updates.hpp"
#include "sensors/providers.hpp"
#include "sensors/refusals.hpp"
#include "usage/files/usage_json.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

using Json = nlohmann::ordered_json;

/// A quantity, and the interfaces it can be read through: the first is the one that is used.
using Ways = std::vector<Channel>;

/// The time that a counter takes for `ticks` at the greatest power; absent for 0 ticks.
std::optional<Seconds> shortest_time(const CounterTraits& counter, std::uint64_t ticks) {
  if (ticks == 0) return std::nullopt;
  return Seconds(static_cast<double>(ticks) * counter.tick.si() / counter.max_power.si());
}

/// Every quantity with its ways, in the order in which providers list them.
std::vector<Ways> ways_of(const std::vector<Survey>& surveys) {
  std::vector<Ways> all;
  std::map<std::tuple<Domain, Metric, Scope>, std::size_t> places;
  for (const Survey& found : surveys) {
    for (const auto& sensor : found.sensors) {
      for (const Channel& channel : sensor->channels()) {
        const auto key = std::tuple(channel.domain, channel.metric, channel.scope);
        const auto [place, is_new] = places.try_emplace(key, all.size());
        if (is_new) all.emplace_back();
        all[place->second].push_back(channel);
      }
    }
  }
  return all;
}

Json counter_json(const Channel& channel) {
  const CounterTraits& counter = channel.counter;
  const bool is_found = counter.feed != CounterFeed::unknown;
  return {{"counter", is_found ? Json(to_string(counter.feed)) : Json()},
          {"tick_j", counter.tick.si()},
          {"modulus_ticks", counter.modulus != 0 ? Json(counter.modulus) : Json()},
          {"max_power_w", counter.max_power.si()},
          {"shortest_wrap_s", or_null(shortest_time(counter, counter.modulus))},
          {"must_be_read_within_s", or_null(shortest_time(counter, counter.blind_ticks()))},
          {"contained_in", channel.contained_in ? Json(channel.contained_in->name()) : Json()},
          {"counts_in_total", channel.counts_energy() && counts_in_total(channel.domain.kind())}};
}

Json gauge_json(const GaugeTraits& gauge) {
  return {{"window_s", or_null(std::optional<Seconds>(gauge.window))},
          {"coverage", or_null(gauge.coverage)}};
}

/// `measured`: null where it was not.
Channel best_known(const Channel& assumed, const MeasuredChannel* measured) {
  return measured != nullptr ? with_discovered(assumed, *measured) : assumed;
}

/// `measured`: of the first way; null where it was not measured.
Json channel_json(const Ways& ways, const MeasuredChannel* measured) {
  const Channel channel = best_known(ways.front(), measured);
  Json alternatives = Json::array();
  for (const Channel& other : std::span(ways).subspan(1)) {
    alternatives.push_back({{"source", other.source}, {"place", other.place}});
  }
  const UpdateInterval& update = channel.update;
  Json json = {{"domain", channel.domain.name()},
               {"quantity", to_string(channel.metric)},
               {"unit", unit_of(channel.metric)},
               {"scope", to_string(channel.scope)},
               {"source", channel.source},
               {"place", channel.place},
               {"scale", channel.scale()},
               {"costly", channel.costly},
               {"update_interval_s", update.known() ? Json(Seconds(update.mean).count()) : Json()},
               {"alternatives", std::move(alternatives)}};
  json.update(channel.metric == Metric::energy ? counter_json(channel) : gauge_json(channel.gauge));
  if (measured != nullptr) json["measured"] = measured_json(*measured);
  if (measured != nullptr && measured->window) json["seen"] = window_json(*measured->window);
  return json;
}

Json device_entry(const DeviceInfo& device, const Domain& domain) {
  return {{"domain", domain.name()},
          {"kind", to_string(domain.category())},
          {"model", text_or_null(device.model)},
          {"id", text_or_null(device.id)},
          {"pci_address", text_or_null(device.pci_address)},
          {"driver", text_or_null(device.driver)}};
}

std::string reach_text(const CounterTraits& counter) {
  const auto time = shortest_time(counter, counter.blind_ticks());
  if (!time) return "no wrap known";
  const std::string reach = fmt::format("{} at {}", to_text(*time), to_text(counter.max_power));
  return counter.modulus != 0 ? "wraps after " + reach : "never wraps if read within " + reach;
}

std::string gauge_text(const Channel& assumed, const MeasuredChannel* measured) {
  const Channel channel = best_known(assumed, measured);
  // Otherwise the measured period is printed.
  const bool shows_update = measured == nullptr || !measured->seen;
  std::string text = fmt::format("{}\t{}, {}", channel.domain.name(), to_string(channel.metric),
                                 unit_of(channel.metric));
  if (channel.scope == Scope::module) text += ", of the whole module";
  const auto add_time = [&](const char* what, std::chrono::nanoseconds time) {
    text += fmt::format(", {} {}", what, to_text(Seconds(time)));
  };
  if (channel.gauge.window) add_time("mean over", *channel.gauge.window);
  if (channel.update.known() && shows_update) add_time("renewed every", channel.update.mean);
  if (is_power(channel.metric) && !channel.gauge.coverage && !channel.gauge.window) {
    text += ", sees an unknown part of the time";
  } else if (misses_time(channel.gauge.coverage.value_or(1.0))) {
    text += fmt::format(", sees {:.0f} % of the time", *channel.gauge.coverage * 100.0);
  }
  return text + "\n";
}

std::string counter_text(const Ways& ways, const MeasuredChannel* measured) {
  const Channel channel = best_known(ways.front(), measured);
  std::string text = fmt::format("{}\tenergy counter, {} a tick, {}\n{}\t  {}: {}\n",
                                 channel.domain.name(), to_text(channel.counter.tick),
                                 reach_text(channel.counter), "", channel.source, channel.place);
  for (const Channel& other : std::span(ways).subspan(1)) {
    text += fmt::format("{}\t  also {}: {}\n", "", other.source, other.place);
  }
  if (channel.contained_in) {
    text +=
        fmt::format("{}\t  inside {}, not added to a total\n", "", channel.contained_in->name());
  }
  if (channel.scope == Scope::module) {
    text += fmt::format("{}\t  of the whole module, not added to a total\n", "");
  }
  if (channel.counter.feed == CounterFeed::fed) {
    text += fmt::format("{}\t  counter: fed, it adds up what the power gauge shows\n", "");
  } else if (channel.counter.feed == CounterFeed::own) {
    text += fmt::format("{}\t  counter: own, it sees all of the time\n", "");
  }
  return text;
}

/// `measured`: of the first way; null where it was not measured.
std::string channel_text(const Ways& ways, const MeasuredChannel* measured) {
  const bool is_counter = ways.front().metric == Metric::energy;
  std::string text = is_counter ? counter_text(ways, measured) : gauge_text(ways.front(), measured);
  if (measured != nullptr) text += measured_text(*measured);
  return text;
}

std::string device_text(const DeviceInfo& device, const Domain& domain) {
  std::string text = fmt::format("{}\t{}", domain.name(), device.model);
  if (!device.pci_address.empty()) text += ", PCI " + device.pci_address;
  if (!device.id.empty()) text += ", " + device.id;
  if (!device.driver.empty()) text += ", driver " + device.driver;
  return text + "\n";
}

std::string subjects_text(const SharedCause& cause) { return joined(cause.subjects, ", "); }

/// The domains that each interface has and lacks, whether it is used or not.
Json sources_json(const std::vector<Survey>& surveys) {
  Json sources = Json::array();
  for (std::size_t i = 0; i < surveys.size(); ++i) {
    Json domains = Json::array();
    for (const auto& sensor : surveys[i].sensors) {
      for (const Channel& channel : sensor->channels()) {
        if (channel.gives_energy()) domains.push_back(channel.domain.name());
      }
    }
    domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
    sources.push_back({{"source", providers()[i].name},
                       {"domains", std::move(domains)},
                       {"refused", refused_json(surveys[i].refused)}});
  }
  return sources;
}

/// Domains that are measured, but not through every interface that shows them.
std::string passed_over_text(const std::vector<Survey>& surveys, const std::set<Domain>& read) {
  std::string text;
  for (const Survey& found : surveys) {
    std::vector<SensorRefusal> passed_over;
    std::ranges::copy_if(
        found.refused, std::back_inserter(passed_over),
        [&](const SensorRefusal& r) { return r.domain && read.contains(*r.domain); });
    for (const SharedCause& cause : by_cause(passed_over)) {
      text += fmt::format("{}\tnot through {}: {}\n", subjects_text(cause), cause.refusal.source,
                          cause.refusal.reason);
    }
  }
  return text;
}

/// Says that no gauge needs to be watched; empty where one does.
std::string_view unwatched_text(const std::vector<MeasuredChannel>& measured) {
  const auto was_watched = [](const MeasuredChannel& found) {
    return found.feed || is_window_open(found.channel);
  };
  if (std::ranges::any_of(measured, was_watched)) return "";
  return "\n--watch-load watched nothing: it is known how much of the time each power gauge sees\n";
}

/// The devices that their drivers describe.
Json devices_of(const std::vector<Survey>& surveys, std::string& text) {
  Json devices = Json::array();
  for (const Survey& found : surveys) {
    for (const auto& sensor : found.sensors) {
      const DeviceInfo* const device = sensor->device();
      if (device == nullptr) continue;
      const Domain& domain = sensor->channels().front().domain;
      text += device_text(*device, domain);
      devices.push_back(device_entry(*device, domain));
    }
  }
  return devices;
}

/// The options as they are written.
struct RawSensors {
  SensorsOptions sensors;
  ParsedOptions values;
  RawRoots roots;

  void add(CLI::App& command) {
    command.add_flag("--json", sensors.json, "As JSON on stdout");
    add_roots(command, roots);
    command.add_flag("--cross-check", sensors.cross_check,
                     "Read for a second what can be read in two ways, and compare");
    command.add_flag(
        "--measure", sensors.measure,
        "Find out how often each value is renewed, and what reading it costs: takes up "
        "to 7 seconds a GPU; later runs use what was found");
    values.add(command, "--watch-load", sensors.watched, "SECONDS",
               "With --measure: also find out how much of the time power gauges of GPUs see, in "
               "SECONDS (best 30 or more) for each GPU. In that time a program of yours turns the "
               "load on and off, every 0.3 to 1 s and at no whole multiple of 0.1 s",
               seconds_within(1.0, 3600.0));
  }
  [[nodiscard]] SensorsOptions checked(const CommandLine& /*line*/) const {
    SensorsOptions options = sensors;
    if (sensors.watched.count() > 0 && !sensors.measure) {
      throw InvalidArgument(
          "--watch-load needs --measure: wattle sensors --measure --watch-load 30");
    }
    options.system = system_of(roots);
    return options;
  }
};

}  // namespace

int execute(const SensorsOptions& options) {
  std::vector<Survey> surveys =
      with_privileges([&] { return survey_each(options.system, machine_clock()); });
  if (!options.measure) {  // else they are found out again
    for (Survey& found : surveys) found = with_kept_updates(std::move(found));
  }
  const std::vector<Ways> quantities = ways_of(surveys);
  std::set<Domain> read;
  for (const Ways& ways : quantities) {
    if (ways.front().gives_energy()) read.insert(ways.front().domain);
  }
  std::vector<SensorRefusal> refused;
  for (const Survey& found : surveys) {
    refused.insert(refused.end(), found.refused.begin(), found.refused.end());
  }
  refused = worth_reporting(std::move(refused), read);
  const std::vector<SensorRefusal> absent = take_absent(refused);

  std::string text;
  Json devices = devices_of(surveys, text);
  Json sources = sources_json(surveys);
  std::vector<MeasuredChannel> measured;
  std::string kept;
  if (options.measure) {
    const auto kinds = sensor_kinds(surveys);
    Progress progress("wattle sensors");
    measured =
        measure(surveys, options.watched, [&](std::string_view step) { progress.show(step); });
    kept = keep_measured(measured, kinds);
  }
  Json channels = Json::array();
  for (const Ways& ways : quantities) {
    const MeasuredChannel* const of_channel = find(measured, ways.front());
    text += channel_text(ways, of_channel);
    channels.push_back(channel_json(ways, of_channel));
  }
  for (const SharedCause& cause : by_cause(refused)) {
    text += fmt::format("{}\tnot read: {}\n", subjects_text(cause), cause.refusal.reason);
  }
  text += passed_over_text(surveys, read);
  if (options.watched.count() > 0) text += unwatched_text(measured);
  text += kept;
  if (!refused.empty()) text += "\nwattle doctor reports the causes and the remedies.\n";
  Json json = {{"schema", "wattle.sensors/2"},    {"devices", std::move(devices)},
               {"channels", std::move(channels)}, {"refused", refused_json(refused)},
               {"absent", refused_json(absent)},  {"sources", std::move(sources)}};
  if (options.cross_check) {
    const CrossChecks checked = measure_cross_checks(std::move(surveys));
    text += cross_check_text(checked);
    json["cross_check"] = cross_check_json(checked);
  }
  text = options.json ? json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
                      : labelled_lines(text, style_of(STDOUT_FILENO));
  Output::open("-", false).write(text);
  return 0;
}

extern constinit const Subcommand kSensorsSubcommand = {
    .name = "sensors",
    .group = HelpGroup::set_up,
    .summary = "List what can be measured here, and how",
    .add = add_options<RawSensors>,
    .run = execute_with<SensorsOptions>,
    .opens_counters = always};

}  // namespace wattle::app
