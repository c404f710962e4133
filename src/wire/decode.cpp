#include <algorithm>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "wire/message_json.hpp"

namespace wattle::wire {
namespace {

using nlohmann::json;

/// Thrown and caught within this file.
struct NotUnderstood : std::exception {
  explicit NotUnderstood(std::string text) : why(std::move(text)) {}
  [[nodiscard]] const char* what() const noexcept override { return why.c_str(); }
  std::string why;
};

[[noreturn]] void refuse(std::string_view key, std::string_view what) {
  throw NotUnderstood("'" + printable(key) + "' is " + std::string(what));
}

/// The value of a key; null: missing, or JSON null.
const json* find(const json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

const json& member(const json& object, const char* key) {
  const json* const value = find(object, key);
  if (value == nullptr) refuse(key, "missing");
  return *value;
}

std::uint64_t to_unsigned(const json& value, std::string_view key) {
  if (!value.is_number_unsigned()) refuse(key, "not a whole number from 0 on");
  return value.get<std::uint64_t>();
}

DeviceId to_id(const json& value, std::string_view key) {
  const std::uint64_t id = to_unsigned(value, key);
  if (id > std::numeric_limits<DeviceId>::max()) refuse(key, "too large a number");
  return static_cast<DeviceId>(id);
}

bool to_bool(const json& value, std::string_view key) {
  if (!value.is_boolean()) refuse(key, "neither true nor false");
  return value.get<bool>();
}

/// Foreign text, made safe to print.
std::string to_text(const json& value, std::string_view key) {
  if (!value.is_string()) refuse(key, "not a text");
  return printable(value.get_ref<const std::string&>());
}

const json& as_list(const json& value, std::string_view key) {
  if (!value.is_array()) refuse(key, "not a list");
  return value;
}

const json& as_object(const json& value, std::string_view key) {
  if (!value.is_object()) refuse(key, "not an object");
  return value;
}

UnixMs to_ms(const json& value, std::string_view key) {
  const std::uint64_t ms = to_unsigned(value, key);
  if (ms > std::uint64_t{kLastUnixMs}) refuse(key, "too large a number");
  return static_cast<UnixMs>(ms);
}

std::uint64_t to_power(const json& value, std::string_view key) {
  const std::uint64_t mw = to_unsigned(value, key);
  if (mw > kMostMilliwatts) refuse(key, "too large a number");
  return mw;
}

/// The member, converted by `to_value`. Throws if it is missing.
template <class ToValue>
auto required(const json& object, const char* key, ToValue to_value) {
  return to_value(member(object, key), key);
}

/// Stores the member, converted by `to_value`, in `to`. Leaves `to` unchanged if it is missing.
template <class Value, class ToValue>
void take(const json& object, const char* key, Value& to, ToValue to_value) {
  if (const json* const value = find(object, key)) to = to_value(*value, key);
}

std::vector<std::string> texts(const json& list, std::string_view key) {
  std::vector<std::string> all;
  for (const json& item : as_list(list, key)) all.push_back(to_text(item, key));
  return all;
}

/// An object whose keys are device ids; `value_of` converts each value.
template <class ValueOf>
auto by_device(const json& object, ValueOf value_of) {
  std::map<DeviceId, std::invoke_result_t<ValueOf, const json&>> all;
  for (const auto& [key, value] : as_object(object, "the answer").items()) {
    const auto id = parse_unsigned<DeviceId>(key);
    if (!id) refuse(key, "not an id of a device");
    if (!all.emplace(*id, value_of(value)).second) refuse(key, "there twice");
  }
  return all;
}

/// Reads one key of each device's object.
template <class ToValue>
auto one_key_each(const char* key, ToValue to_value) {
  return [=](const json& answer) {
    return by_device(answer, [&](const json& device) {
      return required(as_object(device, "a device"), key, to_value);
    });
  };
}

/// Reads the powers of all devices, each converted by `power_of`, and their time.
template <class PowerOf>
auto powers_at(PowerOf power_of) {
  return [=](const json& answer) {
    return PowersAt<std::invoke_result_t<PowerOf, const json&>>{
        required(answer, "timestamp_ms", to_ms), by_device(member(answer, "power_mw"), power_of)};
  };
}

GpuEntry gpu_of(const json& entry) {
  GpuEntry gpu{.id = required(as_object(entry, "an item of 'gpus'"), "id", to_id),
               .cumulative_energy_available = std::nullopt};
  take(entry, "name", gpu.name, to_text);
  take(entry, "pci_address", gpu.pci_address, to_text);
  take(entry, "cumulative_energy_available", gpu.cumulative_energy_available, to_bool);
  take(entry, "domain", gpu.domain, to_text);
  return gpu;
}

std::vector<GpuEntry> gpus_of(const json& answer) {
  std::vector<GpuEntry> gpus;
  if (const json* entries = find(answer, "gpus")) {
    for (const json& entry : as_list(*entries, "gpus")) gpus.push_back(gpu_of(entry));
    return gpus;
  }
  for (const json& id : as_list(member(answer, "gpu_ids"), "gpu_ids")) {
    gpus.push_back({.id = to_id(id, "gpu_ids"), .cumulative_energy_available = std::nullopt});
  }
  return gpus;
}

std::vector<CpuEntry> cpus_of(const json& answer) {
  std::vector<CpuEntry> cpus;
  if (const json* entries = find(answer, "cpus")) {
    for (const json& entry : as_list(*entries, "cpus")) {
      CpuEntry& cpu = cpus.emplace_back();
      cpu.id = required(as_object(entry, "an item of 'cpus'"), "id", to_id);
      take(entry, "dram_available", cpu.dram_available, to_bool);
      take(entry, "domain", cpu.domain, to_text);
    }
    return cpus;
  }
  const json* const ids = find(answer, "cpu_ids");
  if (ids == nullptr) return cpus;
  static const json nothing = json::array();
  const json* const drams = find(answer, "dram_available");
  const json& dram = drams == nullptr ? nothing : as_list(*drams, "dram_available");
  for (const json& id : as_list(*ids, "cpu_ids")) {
    const std::size_t i = cpus.size();
    cpus.push_back({.id = to_id(id, "cpu_ids"),
                    .dram_available = i < dram.size() && to_bool(dram[i], "dram_available")});
  }
  return cpus;
}

template <class Entry>
void require_distinct(const std::vector<Entry>& entries, std::string_view what) {
  std::set<DeviceId> seen;
  for (const Entry& entry : entries) {
    if (!seen.insert(entry.id).second) {
      throw NotUnderstood(std::string(what) + " " + std::to_string(entry.id) + " is there twice");
    }
  }
}

/// Text for people; empty if missing.
std::string text_in(const json& entry, const char* key) {
  const json* const value = find(entry, key);
  constexpr std::size_t kMost = 2000;  // a remedy may be a paragraph
  return value == nullptr || !value->is_string()
             ? std::string()
             : printable(value->get_ref<const std::string&>(), kMost);
}

/// Only for people: an invalid one is ignored.
std::optional<CpuLimit> cpu_limit_of(const json& answer) {
  const json* const limit = find(answer, "cpu_limit");
  if (limit == nullptr || !limit->is_object()) return std::nullopt;
  const json* const period = find(*limit, "period_s");
  const json* const quantum = find(*limit, "quantum_j");
  const auto is_number = [](const json* value) { return value != nullptr && value->is_number(); };
  if (!is_number(period) || !is_number(quantum)) return std::nullopt;
  return CpuLimit{.period_s = period->get<double>(),
                  .quantum_j = quantum->get<double>(),
                  .reason = text_in(*limit, "reason"),
                  .effect = text_in(*limit, "effect"),
                  .remedy = text_in(*limit, "remedy")};
}

/// Only for people: an invalid entry is ignored.
std::vector<RefusedEntry> refused_of(const json& answer) {
  std::vector<RefusedEntry> refused;
  const json* const entries = find(answer, "refused");
  if (entries == nullptr || !entries->is_array()) return refused;
  for (const json& entry : *entries) {
    if (!entry.is_object()) continue;
    refused.push_back({.subject = text_in(entry, "subject"),
                       .source = text_in(entry, "source"),
                       .reason = text_in(entry, "reason"),
                       .remedy = text_in(entry, "remedy")});
  }
  return refused;
}

Discovery discovery_of(const json& answer) {
  Discovery discovery{.gpus = gpus_of(answer), .cpus = cpus_of(answer)};
  require_distinct(discovery.gpus, "GPU");
  require_distinct(discovery.cpus, "CPU");
  take(answer, "enabled_api_groups", discovery.enabled_api_groups, texts);
  take(answer, "disabled_api_groups", discovery.disabled_api_groups, texts);
  for (const std::string& group : discovery.disabled_api_groups) {
    std::erase(discovery.enabled_api_groups, group);
  }
  take(answer, "auth_required", discovery.auth_required, to_bool);
  const json* const format = find(answer, "stream_format");
  if (format != nullptr && *format == "snapshot") discovery.stream_format = StreamFormat::snapshot;
  discovery.refused = refused_of(answer);
  take(answer, "granted_scopes", discovery.granted_scopes, texts);
  discovery.cpu_limit = cpu_limit_of(answer);
  return discovery;
}

Identity identity_of(const json& answer) {
  Identity identity{.subject = required(answer, "sub", to_text),
                    .scopes = required(answer, "scopes", texts)};
  if (const json* expiry = find(answer, "exp")) {
    const std::uint64_t at = to_unsigned(*expiry, "exp");
    constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
    identity.expires_unix_s = static_cast<std::int64_t>(std::min(at, kMost));
  }
  return identity;
}

CpuPower cpu_power_of(const json& device) {
  CpuPower power{.cpu_mw = required(as_object(device, "a device"), "cpu_mw", to_power)};
  take(device, "dram_mw", power.dram_mw, to_power);
  return power;
}

CpuEnergy cpu_energy_of(const json& device) {
  CpuEnergy energy;
  take(as_object(device, "a device"), "cpu_energy_uj", energy.cpu_uj, to_unsigned);
  take(device, "dram_energy_uj", energy.dram_uj, to_unsigned);
  take(device, "since_ms", energy.since_ms, to_ms);
  take(device, "timestamp_ms", energy.timestamp_ms, to_ms);
  take(device, "domain", energy.domain, to_text);
  return energy;
}

PowerLimitRange range_of(const json& device) {
  as_object(device, "a device");
  return {.min_mw = required(device, "min_power_limit_mw", to_unsigned),
          .max_mw = required(device, "max_power_limit_mw", to_unsigned)};
}

/// An answer, converted by `value_of`. Never throws, even if memory runs out.
template <class ValueOf>
Decoded<std::invoke_result_t<ValueOf, const json&>> decode(std::string_view text,
                                                           ValueOf value_of) {
  try {
    const json answer = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (answer.is_discarded()) return Malformed{"it is not JSON"};
    if (!answer.is_object()) return Malformed{"it is not a JSON object"};
    return value_of(answer);
  } catch (const NotUnderstood& error) {
    return Malformed{error.why};
  } catch (const std::exception&) {
    return Malformed{"it is too large"};
  }
}

}  // namespace

Decoded<Discovery> decode_discovery(std::string_view text) { return decode(text, discovery_of); }

Decoded<Identity> decode_identity(std::string_view text) { return decode(text, identity_of); }

Decoded<UnixMs> decode_time(std::string_view text) {
  return decode(text, [](const json& answer) { return required(answer, "timestamp_ms", to_ms); });
}

Decoded<GpuPowersAt> decode_gpu_powers(std::string_view text) {
  return decode(text, powers_at([](const json& mw) { return to_power(mw, "power_mw"); }));
}

Decoded<CpuPowersAt> decode_cpu_powers(std::string_view text) {
  return decode(text, powers_at(cpu_power_of));
}

Decoded<std::map<DeviceId, std::uint64_t>> decode_gpu_energies(std::string_view text) {
  return decode(text, one_key_each("energy_mj", to_unsigned));
}

Decoded<std::map<DeviceId, CpuEnergy>> decode_cpu_energies(std::string_view text) {
  return decode(text, [](const json& answer) { return by_device(answer, cpu_energy_of); });
}

Decoded<std::map<DeviceId, std::uint64_t>> decode_power_limits(std::string_view text) {
  return decode(text, one_key_each("power_limit_mw", to_unsigned));
}

Decoded<std::map<DeviceId, PowerLimitRange>> decode_power_limit_ranges(std::string_view text) {
  return decode(text, [](const json& answer) { return by_device(answer, range_of); });
}

Decoded<std::map<DeviceId, bool>> decode_persistence_modes(std::string_view text) {
  return decode(text, one_key_each("enabled", to_bool));
}

std::optional<UnknownPower> decode_unknown(std::string_view comment) {
  constexpr std::size_t kLongestReason = 200;
  UnknownPower unknown;
  const std::string_view type = comment.substr(0, 4);
  if (type != "gpu " && type != "cpu ") return std::nullopt;
  unknown.type = type == "gpu " ? DeviceType::gpu : DeviceType::cpu;
  const std::size_t colon = comment.find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view device = comment.substr(type.size(), colon - type.size());
  constexpr std::string_view kDram = " dram";
  unknown.is_dram = unknown.type == DeviceType::cpu && device.ends_with(kDram);
  if (unknown.is_dram) device.remove_suffix(kDram.size());
  const auto id = parse_unsigned<DeviceId>(device);
  if (!id) return std::nullopt;
  unknown.id = *id;
  unknown.reason = printable(comment.substr(colon + 2), kLongestReason);
  if (unknown.reason.empty()) return std::nullopt;
  return unknown;
}

std::string decode_error(std::string_view body) {
  try {
    const json answer = json::parse(body, nullptr, /*allow_exceptions=*/false);
    if (answer.is_object()) {
      const json* const error = find(answer, "error");
      if (error != nullptr && error->is_string()) return to_text(*error, "error");
      const json* const errors = find(answer, "errors");
      if (errors != nullptr && errors->is_object()) {
        std::string all;
        for (const auto& [id, message] : errors->items()) {
          if (!message.is_string()) continue;
          all += (all.empty() ? "" : "; ") + printable(id) + ": " + to_text(message, "errors");
        }
        return printable(all, all.size());
      }
    }
    return printable(body.substr(0, body.find_last_not_of(" \t\r\n") + 1));
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace wattle::wire
