// Encodes messages as compact JSON, with the keys in zeusd's order.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "wire/messages.hpp"

namespace wattle::wire {

/// With the keys of both generations.
[[nodiscard]] std::string encode(const Discovery& discovery);
[[nodiscard]] std::string encode(const Identity& identity);
/// One event of a snapshot stream; also the answer to a single request for power.
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

/// `{"error":"..."}`: the error of a request.
[[nodiscard]] std::string encode_error(std::string_view message);
/// `{"errors":{"0":"..."}}`: the errors of devices.
[[nodiscard]] std::string encode_errors(const std::map<DeviceId, std::string>& messages);

/// `text` in quotes; invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);
/// The same; null if `text` is empty.
[[nodiscard]] std::string json_string_or_null(std::string_view text);

/// One JSON object as a server-sent event.
[[nodiscard]] std::string event(std::string_view json);
/// A comment line, which clients ignore.
[[nodiscard]] std::string comment(std::string_view text);
/// A comment that names the device: ": cpu 0: its counter does not move", ": cpu 0 dram: ...".
[[nodiscard]] std::string encode(const UnknownPower& unknown);

}  // namespace wattle::wire
