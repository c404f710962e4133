#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text/printable_text.hpp"
#include "base/text/text.hpp"
#include "wire/message_json.hpp"

namespace wattle::wire {
namespace {

std::string_view text_of(bool value) noexcept { return value ? "true" : "false"; }

std::string number_or_null(const std::optional<std::uint64_t>& value) {
  return value ? fmt::format("{}", *value) : "null";
}

/// ,"key":"text"
std::string member_or_nothing(std::string_view key, std::string_view text) {
  return text.empty() ? std::string() : fmt::format(R"(,"{}":{})", key, json_string(text));
}

/// ,"key":5
template <class Number>
std::string member_or_nothing(std::string_view key, const std::optional<Number>& number) {
  return number ? fmt::format(R"(,"{}":{})", key, *number) : std::string();
}

/// "[a,b]": `text` encodes each item.
template <class Items, class Text>
std::string array_of(const Items& items, Text text) {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += ',';
    out += text(item);
  }
  return out + ']';
}

/// {"0":...,"1":...}: `text` encodes each value.
template <class Value, class Text>
std::string object_of(const std::map<DeviceId, Value>& values, Text text) {
  std::string out = "{";
  for (const auto& [id, value] : values) {
    if (out.size() > 1) out += ',';
    fmt::format_to(std::back_inserter(out), "\"{}\":{}", id, text(value));
  }
  return out + '}';
}

std::string decimal(std::uint64_t value) { return fmt::format("{}", value); }

std::string object(const CpuPower& power) {
  return fmt::format(R"({{"cpu_mw":{},"dram_mw":{}}})", power.cpu_mw,
                     number_or_null(power.dram_mw));
}

std::string object(const GpuEntry& gpu) {
  return fmt::format(R"({{"id":{},"name":{},"pci_address":{},"cumulative_energy_available":{}{}}})",
                     gpu.id, json_string(gpu.name), json_string(gpu.pci_address),
                     text_of(gpu.cumulative_energy_available.value_or(false)),
                     member_or_nothing("domain", gpu.domain));
}

std::string object(const CpuEntry& cpu) {
  return fmt::format(R"({{"id":{},"dram_available":{}{}}})", cpu.id, text_of(cpu.dram_available),
                     member_or_nothing("domain", cpu.domain));
}

std::string object(const RefusedEntry& entry) {
  return fmt::format(R"({{"subject":{},"source":{},"reason":{},"remedy":{}}})",
                     json_string(entry.subject), json_string(entry.source),
                     json_string(entry.reason), json_string_or_null(entry.remedy));
}

std::string object(const CpuLimit& limit) {
  return fmt::format(R"({{"period_s":{},"quantum_j":{},"reason":{}{},"remedy":{}}})",
                     limit.period_s, limit.quantum_j, json_string(limit.reason),
                     member_or_nothing("effect", limit.effect), json_string(limit.remedy));
}

template <class Entry>
std::string objects(const std::vector<Entry>& entries) {
  return array_of(entries, [](const Entry& entry) { return object(entry); });
}

template <class Entry>
std::string ids(const std::vector<Entry>& entries) {
  return array_of(entries, [](const Entry& entry) { return decimal(entry.id); });
}

}  // namespace

std::string json_string(std::string_view text) {
  return safe_json(
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string json_string_or_null(std::string_view text) {
  return text.empty() ? "null" : json_string(text);
}

std::string encode(const Discovery& discovery) {
  std::vector<std::string> groups = discovery.disabled_api_groups;
  groups.insert(groups.end(), discovery.enabled_api_groups.begin(),
                discovery.enabled_api_groups.end());
  const std::string dram = array_of(
      discovery.cpus, [](const CpuEntry& cpu) { return std::string(text_of(cpu.dram_available)); });
  return fmt::format(
      R"({{"gpus":{},"cpus":{},"enabled_api_groups":{},"auth_required":{},)"
      R"("gpu_ids":{},"cpu_ids":{},"dram_available":{},"stream_format":"{}","refused":{}{}{}{}}})",
      objects(discovery.gpus), objects(discovery.cpus), array_of(groups, json_string),
      text_of(discovery.auth_required), ids(discovery.gpus), ids(discovery.cpus), dram,
      discovery.stream_format == StreamFormat::snapshot ? "snapshot" : "per-device",
      objects(discovery.refused),
      discovery.disabled_api_groups.empty()
          ? std::string()
          : R"(,"disabled_api_groups":)" + array_of(discovery.disabled_api_groups, json_string),
      discovery.granted_scopes
          ? R"(,"granted_scopes":)" + array_of(*discovery.granted_scopes, json_string)
          : std::string(),
      discovery.cpu_limit ? R"(,"cpu_limit":)" + object(*discovery.cpu_limit) : std::string());
}

std::string encode(const Identity& identity) {
  return fmt::format(R"({{"sub":{},"scopes":{}{}}})", json_string(identity.subject),
                     array_of(identity.scopes, json_string),
                     member_or_nothing("exp", identity.expires_unix_s));
}

std::string encode(const GpuPowersAt& powers) {
  return fmt::format(R"({{"timestamp_ms":{},"power_mw":{}}})", powers.timestamp_ms,
                     object_of(powers.powers, decimal));
}

std::string encode(const CpuPowersAt& powers) {
  const std::string each =
      object_of(powers.powers, [](const CpuPower& power) { return object(power); });
  return fmt::format(R"({{"timestamp_ms":{},"power_mw":{}}})", powers.timestamp_ms, each);
}

std::string encode_event(UnixMs at, DeviceId gpu, std::uint64_t power_mw) {
  return fmt::format(R"({{"timestamp_ms":{},"gpu_id":{},"power_mw":{}}})", at, gpu, power_mw);
}

std::string encode_event(UnixMs at, DeviceId cpu, const CpuPower& power) {
  return fmt::format(R"({{"timestamp_ms":{},"cpu_id":{},"cpu_mw":{},"dram_mw":{}}})", at, cpu,
                     power.cpu_mw, number_or_null(power.dram_mw));
}

std::string encode_time(UnixMs now) { return fmt::format(R"({{"timestamp_ms":{}}})", now); }

std::string encode_gpu_energies(const std::map<DeviceId, std::uint64_t>& mj) {
  return object_of(mj,
                   [](std::uint64_t value) { return fmt::format(R"({{"energy_mj":{}}})", value); });
}

std::string encode_cpu_energies(const std::map<DeviceId, CpuEnergy>& energies) {
  return object_of(energies, [](const CpuEnergy& energy) {
    return fmt::format(R"({{"cpu_energy_uj":{},"dram_energy_uj":{}{}{}{}}})",
                       number_or_null(energy.cpu_uj), number_or_null(energy.dram_uj),
                       member_or_nothing("since_ms", energy.since_ms),
                       member_or_nothing("timestamp_ms", energy.timestamp_ms),
                       member_or_nothing("domain", energy.domain));
  });
}

std::string encode_power_limits(const std::map<DeviceId, std::uint64_t>& mw) {
  return object_of(
      mw, [](std::uint64_t value) { return fmt::format(R"({{"power_limit_mw":{}}})", value); });
}

std::string encode_power_limit_ranges(const std::map<DeviceId, PowerLimitRange>& ranges) {
  return object_of(ranges, [](const PowerLimitRange& range) {
    return fmt::format(R"({{"min_power_limit_mw":{},"max_power_limit_mw":{}}})", range.min_mw,
                       range.max_mw);
  });
}

std::string encode_persistence_modes(const std::map<DeviceId, bool>& enabled) {
  return object_of(enabled,
                   [](bool value) { return fmt::format(R"({{"enabled":{}}})", text_of(value)); });
}

std::string encode_error(std::string_view message) {
  return fmt::format(R"({{"error":{}}})", json_string(message));
}

std::string encode_errors(const std::map<DeviceId, std::string>& messages) {
  return fmt::format(R"({{"errors":{}}})", object_of(messages, [](const std::string& message) {
                       return json_string(message);
                     }));
}

std::string event(std::string_view json) { return fmt::format("data: {}\n\n", json); }

std::string comment(std::string_view text) { return fmt::format(": {}\n\n", text); }

std::string encode(const UnknownPower& unknown) {
  return comment(fmt::format("{} {}{}: {}", unknown.type == DeviceType::gpu ? "gpu" : "cpu",
                             unknown.id, unknown.is_dram ? " dram" : "",
                             printable(unknown.reason)));
}

}  // namespace wattle::wire
