// A daemon's answers, as its client understands them. An input is a body; each decoder is given it.
#include <variant>

#include "check.hpp"
#include "wire/message_json.hpp"

namespace {

using namespace wattle;
using wire::Malformed;

/// What foreign text is in is shortened each time it is said.
constexpr bool kHasText = true;

/// Nothing is understood, with a reason that can be shown; or what was understood means the same
/// when it is said again.
template <class Value, class Encode>
void check(std::string_view body, wire::Decoded<Value> (*decode)(std::string_view), Encode encode,
           bool has_text = false) {
  const auto decoded = decode(body);
  if (const auto* const bad = std::get_if<Malformed>(&decoded)) {
    fuzz::require(!bad->why.empty() && fuzz::is_clean(bad->why), "a refusal can be shown");
    return;
  }
  const std::string said = encode(std::get<Value>(decoded));
  const auto again = decode(said);
  fuzz::require(
      std::holds_alternative<Value>(again) && (has_text || encode(std::get<Value>(again)) == said),
      "what was understood can be said");
}

}  // namespace

FUZZ_TARGET(daemon_answers)(const unsigned char* data, std::size_t size) {
  const std::string_view body = fuzz::text_of(data, size);
  const auto encode = [](const auto& value) { return wire::encode(value); };
  check(body, wire::decode_identity, encode, kHasText);
  check(body, wire::decode_gpu_powers, encode);
  check(body, wire::decode_cpu_powers, encode);
  check(body, wire::decode_time, wire::encode_time);
  check(body, wire::decode_gpu_energies, wire::encode_gpu_energies);
  check(body, wire::decode_cpu_energies, wire::encode_cpu_energies);
  check(body, wire::decode_power_limits, wire::encode_power_limits);
  check(body, wire::decode_power_limit_ranges, wire::encode_power_limit_ranges);
  check(body, wire::decode_persistence_modes, wire::encode_persistence_modes);
  check(body, wire::decode_discovery, encode, kHasText);
  fuzz::require(fuzz::is_clean(wire::decode_error(body)), "what a daemon says can be shown");
  return 0;
}
