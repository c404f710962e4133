// Messages as JSON: compact, keys in the order of zeusd's.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "wire/messages.hpp"

namespace wattle::wire {

/// With the keys of both generations.
[[nodiscard]] std::string encode(const Discovery& discovery);
[[nodiscard]] std::string encode(const Identity& identity);
/// One event of a snapshot stream, and the answer to a single question for power.
[[nodiscard]] std::string encode(const GpuPowersAt& powers);
[[nodiscard]] std::string encode(const CpuPowersAt& powers);

/// One event of a per-device stream.
[[nodiscard]] std::string encode_event(UnixMs at, DeviceId gpu, std::uint64_t power_mw);
[[nodiscard]] std::string encode_event(UnixMs at, DeviceId cpu, const CpuPower& power);

[[nodiscard]] std::string encode_time(UnixMs now);
[[nodiscard]] std::string encode_gpu_energies(const std::map<DeviceId, std::uint64_t>& mj);
[[nodiscard]] std::string encode_cpu_energies(const std::map<DeviceId, CpuEnergy>& energies);
[[nodiscard]] std::string encode_power_limits(const std::map<DeviceId, std::uint64_t>& mw);
[[nodiscard]] std::string encode_power_limit_ranges(
    const std::map<DeviceId, PowerLimitRange>& ranges);
[[nodiscard]] std::string encode_persistence_modes(const std::map<DeviceId, bool>& enabled);

/// `{"error":"..."}`: what is wrong with a request.
[[nodiscard]] std::string encode_error(std::string_view message);
/// `{"errors":{"0":"..."}}`: which devices failed.
[[nodiscard]] std::string encode_errors(const std::map<DeviceId, std::string>& messages);

/// `text` in quotes; bytes that are not UTF-8 as U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);
/// The same; null if `text` is empty.
[[nodiscard]] std::string json_string_or_null(std::string_view text);

/// A line of server-sent events around one JSON object.
[[nodiscard]] std::string event(std::string_view json);
/// A line that clients pass over.
[[nodiscard]] std::string comment(std::string_view text);
/// A comment that names the device: ": cpu 0: its counter does not move", ": cpu 0 dram: ...".
[[nodiscard]] std::string encode(const UnknownPower& unknown);

}  // namespace wattle::wire
