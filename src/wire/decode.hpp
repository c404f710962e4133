// Decodes the answers of a daemon of either generation. Safe for untrusted text: never throws, and
// reports what is invalid. Unknown keys are ignored.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "wire/messages.hpp"

namespace wattle::wire {

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
