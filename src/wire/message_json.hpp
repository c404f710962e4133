// The messages of the streaming protocol as JSON: written (encode.cpp, for the daemon), and read
// (decode.cpp, for clients).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

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

/// Why an answer is invalid, safe to print: "'gpus' is not a list".
struct Malformed {
  std::string why;
};
template <class Value>
using Decoded = std::variant<Value, Malformed>;

/// GET /discover. The devices are required, in the form of either generation; of a GPU only its id.
/// Missing groups are off. Without the key `auth_required` no token is needed.
[[nodiscard]] Decoded<Discovery> decode_discovery(std::string_view text);
/// GET /auth/whoami.
[[nodiscard]] Decoded<Identity> decode_identity(std::string_view text);
/// GET /time.
[[nodiscard]] Decoded<UnixMs> decode_time(std::string_view text);

[[nodiscard]] Decoded<GpuPowersAt> decode_gpu_powers(std::string_view text);
[[nodiscard]] Decoded<CpuPowersAt> decode_cpu_powers(std::string_view text);
/// In mJ.
[[nodiscard]] Decoded<std::map<DeviceId, std::uint64_t>> decode_gpu_energies(std::string_view text);
[[nodiscard]] Decoded<std::map<DeviceId, CpuEnergy>> decode_cpu_energies(std::string_view text);
/// In mW.
[[nodiscard]] Decoded<std::map<DeviceId, std::uint64_t>> decode_power_limits(std::string_view text);
[[nodiscard]] Decoded<std::map<DeviceId, PowerLimitRange>> decode_power_limit_ranges(
    std::string_view text);
[[nodiscard]] Decoded<std::map<DeviceId, bool>> decode_persistence_modes(std::string_view text);

/// A comment of a stream (without its colon) with the reason for an unknown power; absent for other
/// comments. The reason is safe to print, and has at most 200 bytes.
[[nodiscard]] std::optional<UnknownPower> decode_unknown(std::string_view comment);

/// The message in the body of a refusal, safe to print: of `{"error":"..."}`,
/// `{"errors":{"0":"..."}}`, or the text itself. May be empty.
[[nodiscard]] std::string decode_error(std::string_view body);

}  // namespace wattle::wire
