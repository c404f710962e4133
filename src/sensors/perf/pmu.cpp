#include "sensors/perf/pmu.hpp"

#include <cmath>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"

namespace wattle::perf {
namespace {

/// The kernel hands out energy in 2^-32 J, whatever the register counts in: it shifts the register
/// left (`rapl_scale` in arch/x86/events/rapl.c). The finest register of any processor it knows
/// counts in 2^-16 J, so that many low bits are 0.
constexpr int kFinestRegister = -16;

/// The kernel takes a 32-bit register's advance as a signed number (`rapl_event_update`): from
/// half a turn on, which is 2^31 ticks of at least 2^-16 J, it counts backwards.
constexpr double kFollowedJoules = 32768.0;

}  // namespace

std::optional<std::uint64_t> parse_event(std::string_view text) noexcept {
  if (!take_prefix(text, "event=")) return std::nullopt;
  const int base = take_prefix(text, "0x") ? 16 : 10;
  return parse_unsigned<std::uint64_t>(text, base);
}

std::optional<EventScale> parse_scale(std::string_view text) noexcept {
  // Far beyond any unit on both sides, and harmless to compute with.
  constexpr double kSmallest = 1e-12;
  constexpr double kLargest = 1e3;
  const std::optional<double> joules = parse_double(text);
  if (!joules || *joules < kSmallest || *joules > kLargest) return std::nullopt;
  EventScale scale{.tick = Joules(*joules)};
  int exponent = 0;
  const bool is_power_of_two = std::frexp(*joules, &exponent) == 0.5;
  --exponent;  // frexp counts from a half
  if (is_power_of_two && exponent < kFinestRegister) {
    scale.shift = static_cast<unsigned>(kFinestRegister - exponent);
    scale.tick = Joules(std::ldexp(1.0, kFinestRegister));
  }
  scale.followed_ticks = static_cast<std::uint64_t>(kFollowedJoules / scale.tick.si());
  return scale;
}

bool is_joules(std::string_view unit) noexcept { return unit == "Joules"; }

}  // namespace wattle::perf
