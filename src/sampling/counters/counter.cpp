#include "sampling/counters/counter.hpp"

#include <algorithm>

namespace wattle {

using std::chrono::nanoseconds;

Flags CounterStep::flags() const noexcept {
  Flags flags;
  if (kind == StepKind::wrapped) flags.set(Flag::wrapped);
  if (kind == StepKind::reset) flags.set(Flag::reset);
  if (kind == StepKind::implausible) flags.set(Flag::implausible);
  if (ambiguous) flags.set(Flag::ambiguous);
  return flags;
}

CounterUnwrap::CounterUnwrap(const CounterTraits& traits, nanoseconds p99_update) noexcept
    : modulus_(traits.modulus),
      blind_ticks_(traits.blind_ticks()),
      ticks_per_ns_(traits.max_power.si() / traits.tick.si() * 1e-9),
      allowance_(2 * p99_update) {}

std::uint64_t CounterUnwrap::possible_ticks(nanoseconds elapsed) const noexcept {
  constexpr double kSaturation = 9.2e18;  // below 2^63: the conversion is defined
  const double ticks = ticks_per_ns_ * static_cast<double>((elapsed + allowance_).count());
  // Rounding: the tick that shows may have been about to come.
  return static_cast<std::uint64_t>(std::clamp(ticks, 0.0, kSaturation)) + 1;
}

CounterStep CounterUnwrap::update(std::uint64_t raw, TimePoint at) noexcept {
  const std::uint64_t before = last_;
  const nanoseconds elapsed = at - last_at_;
  const bool has_before = has_last_;
  last_ = raw;
  last_at_ = at;
  has_last_ = true;
  if (!has_before) return {};

  const std::uint64_t possible = possible_ticks(elapsed);
  // The counter, or its hardware register, can have passed its whole range: nothing shows how
  // often.
  const bool whole_turn_fits = blind_ticks_ != 0 && possible >= blind_ticks_;
  if (raw >= before) {
    const std::uint64_t ticks = raw - before;
    if (ticks > possible) return {.kind = StepKind::implausible};
    return {.kind = StepKind::forward, .ambiguous = whole_turn_fits, .ticks = ticks};
  }
  const std::uint64_t ticks = modulus_ - before + raw;
  if (modulus_ == 0 || ticks > possible) return {.kind = StepKind::reset};
  // From a tenth of the range on, a reset soon followed by a load gives the same value.
  const bool could_be_reset = possible >= modulus_ / 10;
  return {.kind = StepKind::wrapped, .ambiguous = could_be_reset, .ticks = ticks};
}

nanoseconds longest_standstill(const Channel& counter) noexcept {
  static constexpr int kUpdates = 10;
  static constexpr double kTicks = 10.0;
  // No counter is known that is renewed less often.
  static constexpr nanoseconds kUnknownUpdate = std::chrono::milliseconds(125);
  const UpdateInterval& update = counter.update;
  const nanoseconds longest = update.known() ? std::max(update.p99, update.mean) : kUnknownUpdate;
  if (counter.counter.least_power <= Watts(0.0)) return nanoseconds::max();
  const double ns = 1e9 * kTicks * counter.counter.tick.si() / counter.counter.least_power.si();
  constexpr double kMost = 9e18;  // below 2^63: the conversion is defined
  return std::max(kUpdates * longest, nanoseconds(static_cast<std::int64_t>(std::min(ns, kMost))));
}

bool is_stuck(const Channel& counter, double ticks, nanoseconds elapsed) noexcept {
  return ticks <= 0.0 && elapsed > longest_standstill(counter);
}

nanoseconds keeper_period(const CounterTraits& traits) noexcept {
  constexpr nanoseconds kLongest = std::chrono::minutes(1);
  if (traits.blind_ticks() == 0) return kLongest;
  const double turn_s =
      static_cast<double>(traits.blind_ticks()) * traits.tick.si() / traits.max_power.si();
  constexpr double kShortestS = 1e-3;  // nothing is read more often than that
  const double half_s = std::clamp(turn_s / 2.0, kShortestS, 60.0);
  return nanoseconds(static_cast<std::int64_t>(half_s * 1e9));
}

}  // namespace wattle
