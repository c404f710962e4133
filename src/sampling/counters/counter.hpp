// Unwrapping a cumulative counter: the only place that decides whether a lower value is a wrap
// or a reset. Integers throughout: no tick is lost to rounding.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "sensors/sensor.hpp"
#include "wattle/energy.hpp"

namespace wattle {

enum class StepKind : std::uint8_t {
  first,        ///< nothing to compare with yet
  forward,      ///< the counter advanced, or stood still
  wrapped,      ///< it passed its end and went on from 0
  reset,        ///< it fell, and no wrap explains that: what was spent is unknown
  implausible,  ///< it jumped further than any device could have driven it: likewise unknown
};

/// The meaning of the step from one value of a counter to the next.
struct CounterStep {
  StepKind kind = StepKind::first;
  /// The time was long enough for a wrap to be a reset, for several wraps, or for the kernel to
  /// lose track of the hardware register: `ticks` is the least that explains the value.
  bool ambiguous = false;
  /// Ticks passed; 0 where `kind` is first, reset or implausible.
  std::uint64_t ticks = 0;

  [[nodiscard]] bool known() const noexcept {
    return kind == StepKind::forward || kind == StepKind::wrapped;
  }
  /// The flags of a figure with this step; none for a first value.
  [[nodiscard]] Flags flags() const noexcept;
  friend bool operator==(const CounterStep&, const CounterStep&) = default;
};

/// Follows one counter. Its rule: a step is believed if the power it implies is possible.
///
///   possible   = max_power x (elapsed + 2 x p99 update interval), in ticks, and one more
///   value rose:  forward, or implausible if the rise is not possible
///   value fell:  wrapped if the rise through the modulus is possible, else reset
///
/// The allowance of two update intervals is there because the energy of up to one interval before
/// the earlier read can show up in the later one, and the interval itself jitters. The one tick
/// more is the counter's rounding: whatever the power, it can come between any two reads. A counter
/// without a modulus never wraps: its fall is a reset (see `CounterTraits::followed_ticks`).
/// Threads: one at a time.
class CounterUnwrap {
 public:
  CounterUnwrap(const CounterTraits& traits, std::chrono::nanoseconds p99_update) noexcept;

  /// Takes the value that was read at `at`. Times must not decrease. `raw` is below the modulus,
  /// where there is one.
  CounterStep update(std::uint64_t raw, TimePoint at) noexcept;

  /// Forgets the last value: the next one is a `first`. For when the counter may have done
  /// anything in between (the machine was suspended).
  void forget() noexcept { has_last_ = false; }

  /// The most ticks that `elapsed` can explain; saturates.
  [[nodiscard]] std::uint64_t possible_ticks(std::chrono::nanoseconds elapsed) const noexcept;

 private:
  std::uint64_t modulus_;
  std::uint64_t blind_ticks_;
  double ticks_per_ns_;
  std::chrono::nanoseconds allowance_;
  std::uint64_t last_ = 0;
  TimePoint last_at_;
  bool has_last_ = false;
};

/// A counter that passes no tick for longer is stuck: that is ten of its updates, and the time in
/// which the least that its device draws is ten ticks. What was spent is not known then. The
/// longest time there is for one whose device may draw nothing.
[[nodiscard]] std::chrono::nanoseconds longest_standstill(const Channel& counter) noexcept;
/// True for a counter that passed no tick in `elapsed` though it must have.
[[nodiscard]] bool is_stuck(const Channel& counter, double ticks,
                            std::chrono::nanoseconds elapsed) noexcept;
/// Why its energy or power is not known.
inline constexpr std::string_view kCounterStuck = "its counter does not move";
inline constexpr std::string_view kCounterRestarted = "its counter restarted";

/// The longest time between two reads of a counter that is sure to lose nothing: half the time in
/// which the greatest power drives it through its `blind_ticks`, and no more than a minute. A
/// minute where it has none.
[[nodiscard]] std::chrono::nanoseconds keeper_period(const CounterTraits& traits) noexcept;

}  // namespace wattle
