// Answers of a daemon as values; of either generation. Foreign text: whatever it holds, nothing
// throws, and what cannot be understood is told. Keys that mean nothing here are passed over.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "wire/messages.hpp"

namespace wattle::wire {

/// Why a text is no answer of the protocol, safe to print: "'gpus' is not a list".
struct Malformed {
  std::string why;
};
template <class Value>
using Decoded = std::variant<Value, Malformed>;

/// GET /discover. Devices must be told, in the words of either generation; groups that are not
/// told are off, and no token is wanted where that is not told. Of a GPU its id is enough.
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

/// A comment of a stream (without its colon) that says why a power is not known; absent for any
/// other. The reason is safe to print, and of 200 bytes at most.
[[nodiscard]] std::optional<UnknownPower> decode_unknown(std::string_view comment);

/// What the body of a refusal says, safe to print: `{"error":"..."}`, `{"errors":{"0":"..."}}`, or
/// the text itself. Empty where it says nothing.
[[nodiscard]] std::string decode_error(std::string_view body);

}  // namespace wattle::wire
