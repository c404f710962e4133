#include "top/lines.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/json/enum_table.hpp"
#include "base/json/json_write.hpp"
#include "top/view.hpp"
#include "usage/files/usage_json.hpp"

namespace wattle::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 5> kRowKinds = {"group", "idle", "rest", "undivided",
                                                       "hidden"};
constexpr std::array<std::string_view, 3> kShareWords = {"power", "estimate", "cpu_time"};

void put_power(const std::optional<Uncertain>& power, Json& json) {
  json["power_w"] = power ? Json(power->value) : Json();
  json["uncertainty_w"] = power ? Json(power->uncertainty) : Json();
}

void put_energy(const MeasuredEnergy& energy, Json& json) {
  json["energy_j"] = or_null(energy.energy);
  json["uncertainty_j"] = uncertainty_or_null(energy.energy, energy.uncertainty);
  const bool is_known = energy.energy || energy.unknown > Seconds(0);
  json["unknown_s"] = is_known ? Json(energy.unknown.count()) : Json();
}

Json line_total_json(const TopObservation& seen) {
  const auto total = total_of(seen);
  if (!total) return nullptr;
  Json json;
  put_power(total->power, json);
  json["is_lower_bound"] = total->is_lower_bound;
  put_energy(total->energy, json);
  json["flags"] = json_of(total->energy.flags);
  return json;
}

Json line_group_json(const GroupRow& row, const GroupTable& groups) {
  Json energy = nullptr;
  if (row.energy) {
    energy = {{"low_j", row.energy->low.si()},
              {"typical_j", row.energy->typical.si()},
              {"high_j", row.energy->high.si()}};
  }
  return {{"name", row.name},
          {"kind", entry_of(kRowKinds, row.kind)},
          {"pid", row.pid > 0 ? Json(row.pid) : Json()},
          {"processes", row.processes},
          {"cpu_s", row.unknown_cpu == 0 ? Json(whole_nanoseconds(row.cpu)) : Json()},
          {"memory_bytes", or_null(row.memory_bytes)},
          {"gpu_percent", or_null(row.gpu_percent)},
          {"gpu_memory_bytes", or_null(row.gpu_memory_bytes)},
          {"share_percent", or_null(row.share)},
          {groups.share_of == ShareOf::estimate ? "estimate" : "share", std::move(energy)}};
}

}  // namespace

nlohmann::ordered_json device_json(const TopDevice& device) {
  Json json = {{"machine", text_or_null(device.machine)},
               {"domain", device.name},
               {"model", text_or_null(device.model)},
               {"is_in_total", device.is_counted}};
  put_power(device.power, json);
  json["power_unknown"] = device.power ? Json() : text_or_null(device.reason);
  put_energy(device.energy, json);
  json["flags"] = json_of(device.energy.flags);
  json["utilization_percent"] = or_null(device.utilization_percent);
  json["memory_used_bytes"] = or_null(device.memory_used_bytes);
  json["memory_total_bytes"] = or_null(device.memory_total_bytes);
  json["temperature_celsius"] = or_null(device.temperature_celsius);
  json["power_limit_w"] = or_null(device.limit_w);
  return json;
}

Json machine_json(const TopMachine& machine) {
  return {{"name", machine.name},
          {"is_live", machine.is_live},
          {"trouble", text_or_null(machine.trouble)}};
}

std::string json_line(const TopObservation& seen, const GroupTable& groups, TopKey key) {
  Json rows = Json::array();
  for (const GroupRow& row : groups.groups) rows.push_back(line_group_json(row, groups));
  for (const GroupRow& row : groups.others) rows.push_back(line_group_json(row, groups));
  Json notes = Json::array();
  for (const PrintableText& note : seen.notes) notes.push_back(note);
  for (const std::string& note : groups.notes) notes.push_back(note);
  const Json json = {{"schema", "wattle.top_line/1"},
                     {"time_unix_s", seen.time_unix_s},
                     {"elapsed_s", whole_nanoseconds(seen.elapsed)},
                     {"length_s", or_null(seen.length)},
                     {"host", text_or_null(seen.host)},
                     {"devices", json_list(seen.devices, device_json)},
                     {"total", line_total_json(seen)},
                     {"machines", json_list(seen.machines, machine_json)},
                     {"cpu_s", or_null(seen.busy)},
                     {"memory_used_bytes", or_null(seen.memory_used_bytes)},
                     {"memory_total_bytes", or_null(seen.memory_total_bytes)},
                     {"by", to_string(key)},
                     {"share_of", entry_of(kShareWords, groups.share_of)},
                     {"idle_basis", seen.idle ? text_or_null(seen.idle_note) : Json()},
                     {"idle_unknown", seen.idle ? Json() : text_or_null(seen.idle_note)},
                     {"groups", std::move(rows)},
                     {"missing", std::move(notes)}};
  return dumped(json) + "\n";
}

}  // namespace wattle::app
