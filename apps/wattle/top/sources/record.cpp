#include "top/sources/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json/enum_table.hpp"
#include "base/json/json_read.hpp"
#include "base/json/json_write.hpp"
#include "base/version.hpp"
#include "top/lines.hpp"
#include "usage/files/usage_json.hpp"

namespace wattle::app {
namespace {

using Json = nlohmann::ordered_json;

Json recorded_range(const EnergyRange& range) {
  return {
      {"low_j", range.low.si()}, {"typical_j", range.typical.si()}, {"high_j", range.high.si()}};
}

Json recorded_device(const TopDevice& device) {
  const auto user_json = [](const GpuUser& user) {
    return Json{{"pid", user.pid},
                {"memory_bytes", or_null(user.memory_bytes)},
                {"part", or_null(user.part)}};
  };
  return {{"machine", text_or_null(device.machine)},
          {"name", device.name},
          {"model", text_or_null(device.model)},
          {"is_counted", device.is_counted},
          {"is_gpu", device.is_gpu},
          {"power_w", device.power ? Json(device.power->value) : Json()},
          {"power_uncertainty_w", device.power ? Json(device.power->uncertainty) : Json()},
          {"power_common_w", device.power ? Json(device.power_common_w) : Json()},
          {"energy_j", or_null(device.energy.energy)},
          {"uncertainty_j", device.energy.uncertainty.si()},
          {"common_j", device.energy.common.si()},
          {"unknown_s", device.energy.unknown.count()},
          {"flags", json_of(device.energy.flags)},
          {"utilization_percent", or_null(device.utilization_percent)},
          {"memory_used_bytes", or_null(device.memory_used_bytes)},
          {"memory_total_bytes", or_null(device.memory_total_bytes)},
          {"temperature_celsius", or_null(device.temperature_celsius)},
          {"power_limit_w", or_null(device.limit_w)},
          {"reason", text_or_null(device.reason)},
          {"users", device.users ? json_list(*device.users, user_json) : Json()},
          {"users_unknown", text_or_null(device.users_unknown)}};
}

Json recorded_process(const TopProcess& process) {
  return {{"pid", process.pid},
          {"parent", process.parent},
          {"command", process.command},
          {"user", process.user},
          {"cgroup", process.cgroup},
          {"cpu_s", or_null(process.cpu)},
          {"memory_bytes", or_null(process.memory_bytes)}};
}

/// No machine has more of anything: what is larger, or negative, is no measurement.
constexpr double kMostRecorded = 1e18;

/// From 0 to `most`; absent otherwise.
std::optional<double> recorded_amount(const Json& object, const char* key,
                                      double most = kMostRecorded) {
  std::optional<double> value;
  take_member(object, key, value);
  return value && *value >= 0.0 && *value <= most ? value : std::nullopt;
}

std::optional<Seconds> recorded_time(const Json& object, const char* key) {
  constexpr double kMostSeconds = 1e9;
  const auto seconds = recorded_amount(object, key, kMostSeconds);
  return seconds ? std::optional(Seconds(*seconds)) : std::nullopt;
}

/// A period has a length that can be written.
std::optional<Seconds> recorded_length(const Json& object) {
  constexpr Seconds kShortest(1e-9);
  const auto length = recorded_time(object, "length_s");
  return length >= kShortest ? length : std::nullopt;
}

/// As a machine's memory has: a whole number, also where it is written as "1e9".
std::optional<std::uint64_t> recorded_bytes(const Json& object, const char* key) {
  const auto value = recorded_amount(object, key);
  return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

Flags flags_in(const Json& list) {
  std::vector<std::string> names;
  take(list, names);
  Flags flags;
  for (const std::string& name : names) {
    if (const auto flag = enumerator_of<Flag>(kFlagNames, name)) flags.set(*flag);
  }
  return flags;
}

MeasuredEnergy energy_in(const Json& json) {
  MeasuredEnergy energy{.unknown = recorded_time(json, "unknown_s").value_or(Seconds(0)),
                        .flags = flags_in(at(json, "flags"))};
  const auto value = recorded_amount(json, "energy_j");
  if (!value) return energy;
  energy.energy = Joules(*value);
  energy.uncertainty = Joules(recorded_amount(json, "uncertainty_j").value_or(0.0));
  double common = 0.0;
  take_member(json, "common_j", common);
  const double most = energy.uncertainty.si();
  energy.common = Joules(std::clamp(std::isfinite(common) ? common : 0.0, -most, most));
  return energy;
}

TopDevice device_in(const Json& json) {
  TopDevice device;
  take_member(json, "machine", device.machine);
  take_member(json, "name", device.name);
  take_member(json, "model", device.model);
  take_member(json, "is_counted", device.is_counted);
  take_member(json, "is_gpu", device.is_gpu);
  take_member(json, "reason", device.reason);
  take_member(json, "users_unknown", device.users_unknown);
  if (const auto power = recorded_amount(json, "power_w")) {
    device.power = Uncertain{*power, recorded_amount(json, "power_uncertainty_w").value_or(0.0)};
    double common_w = 0.0;
    take_member(json, "power_common_w", common_w);
    device.power_common_w = std::isfinite(common_w) ? common_w : 0.0;
  }
  device.energy = energy_in(json);
  device.utilization_percent = recorded_amount(json, "utilization_percent");
  device.memory_used_bytes = recorded_amount(json, "memory_used_bytes");
  device.memory_total_bytes = recorded_amount(json, "memory_total_bytes");
  take_member(json, "temperature_celsius", device.temperature_celsius);
  constexpr double kHottest = 1e4;
  if (device.temperature_celsius && !(std::abs(*device.temperature_celsius) <= kHottest)) {
    device.temperature_celsius.reset();
  }
  device.limit_w = recorded_amount(json, "power_limit_w");
  if (!at(json, "users").is_array()) return device;
  auto& users = device.users.emplace();
  for_each_object(at(json, "users"), [&](const Json& user) {
    users.push_back({.memory_bytes = recorded_bytes(user, "memory_bytes"),
                     .part = recorded_amount(user, "part", 1.0)});
    users.back().pid = read_number<pid_t>(at(user, "pid")).value_or(0);
  });
  return device;
}

TopProcess process_in(const Json& json) {
  TopProcess process{.cpu = recorded_time(json, "cpu_s"),
                     .memory_bytes = recorded_bytes(json, "memory_bytes")};
  process.pid = read_number<pid_t>(at(json, "pid")).value_or(0);
  process.parent = read_number<pid_t>(at(json, "parent")).value_or(0);
  take_member(json, "command", process.command);
  take_member(json, "user", process.user);
  take_member(json, "cgroup", process.cgroup);
  return process;
}

EnergyRange range_in(const Json& json) {
  const auto part = [&](const char* key) {
    return Joules(recorded_amount(json, key).value_or(0.0));
  };
  const Joules low = part("low_j");
  const Joules typical = std::max(low, part("typical_j"));
  return {low, typical, std::max(typical, part("high_j"))};
}

void take_machine(const Json& json, TopObservation& seen) {
  seen.busy = recorded_time(json, "cpu_s");
  constexpr double kMostThreads = 1e6;
  seen.threads = recorded_amount(json, "threads", kMostThreads);
  if (seen.threads <= 0.0) seen.threads.reset();
  seen.memory_used_bytes = recorded_bytes(json, "memory_used_bytes");
  seen.memory_total_bytes = recorded_bytes(json, "memory_total_bytes");
  if (const Json& idle = at(json, "idle"); idle.is_object()) {
    const auto power = [&](const char* key) {
      return Watts(recorded_amount(idle, key).value_or(0.0));
    };
    seen.idle =
        IdleRange{.low = power("low_w"),
                  .typical = std::max(power("low_w"), power("typical_w")),
                  .high = std::max({power("low_w"), power("typical_w"), power("high_w")}),
                  .busy_cpus = recorded_amount(idle, "busy_cpus", kMostThreads).value_or(0.0)};
  }
  take_member(json, "idle_note", seen.idle_note);
  if (const Json& estimate = at(json, "estimate"); estimate.is_object()) {
    seen.estimate = TopEstimate{.machine = range_in(at(estimate, "machine")),
                                .busy = range_in(at(estimate, "busy"))};
    take_member(estimate, "basis", seen.estimate->basis);
  }
  take_member(json, "notes", seen.notes);
}

Json recorded_idle(const std::optional<IdleRange>& idle) {
  if (!idle) return nullptr;
  return {{"low_w", idle->low.si()},
          {"typical_w", idle->typical.si()},
          {"high_w", idle->high.si()},
          {"busy_cpus", idle->busy_cpus}};
}

Json recorded_estimate(const std::optional<TopEstimate>& estimate) {
  if (!estimate) return nullptr;
  return {{"machine", recorded_range(estimate->machine)},
          {"busy", recorded_range(estimate->busy)},
          {"basis", estimate->basis}};
}

}  // namespace

std::string top_record_header() {
  return fmt::format("{},\"wattle_version\":\"{}\"}}\n", kTopRecordStart, version_text());
}

std::string to_record_line(const TopObservation& seen) {
  const Json json = {{"time_unix_s", seen.time_unix_s},
                     {"elapsed_s", whole_nanoseconds(seen.elapsed)},
                     {"length_s", or_null(seen.length)},
                     {"host", seen.host},
                     {"devices", json_list(seen.devices, recorded_device)},
                     {"machines", json_list(seen.machines, machine_json)},
                     {"cpu_s", or_null(seen.busy)},
                     {"threads", or_null(seen.threads)},
                     {"memory_used_bytes", or_null(seen.memory_used_bytes)},
                     {"memory_total_bytes", or_null(seen.memory_total_bytes)},
                     {"idle", recorded_idle(seen.idle)},
                     {"idle_note", text_or_null(seen.idle_note)},
                     {"estimate", recorded_estimate(seen.estimate)},
                     {"notes", seen.notes},
                     {"processes", json_list(seen.processes, recorded_process)}};
  return dumped(json) + "\n";
}

std::optional<TopObservation> parse_record_line(std::string_view line) {
  const Json json = parse_json(line);
  if (!json.is_object() || !at(json, "elapsed_s").is_number() || !at(json, "devices").is_array()) {
    return std::nullopt;
  }
  TopObservation seen{.elapsed = recorded_time(json, "elapsed_s").value_or(Seconds(0)),
                      .length = recorded_length(json)};
  seen.time_unix_s = recorded_amount(json, "time_unix_s").value_or(0.0);
  take_member(json, "host", seen.host);
  for_each_object(at(json, "devices"),
                  [&](const Json& device) { seen.devices.push_back(device_in(device)); });
  for_each_object(at(json, "machines"), [&](const Json& it) {
    TopMachine machine;
    take_member(it, "name", machine.name);
    take_member(it, "is_live", machine.is_live);
    take_member(it, "trouble", machine.trouble);
    seen.machines.push_back(std::move(machine));
  });
  for_each_object(at(json, "processes"),
                  [&](const Json& process) { seen.processes.push_back(process_in(process)); });
  take_machine(json, seen);
  return seen;
}

}  // namespace wattle::app
