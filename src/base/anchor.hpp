// How the wall clock related to the steady clock, over time.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <span>

#include "wattle/clock.hpp"

namespace wattle {

/// A relation of the two clocks that held from `since` until the next one's.
struct Anchor {
  TimePoint since;
  std::chrono::nanoseconds unix_minus_steady;
};

/// A change of the relation up to this is the noise of reading two clocks one after the other;
/// beyond it the wall clock was stepped. (NTP's slewing moves both clocks alike.)
inline constexpr std::chrono::nanoseconds kClockStep = std::chrono::milliseconds(1);

/// The relations seen so far, at most 64: where there are more, the oldest are forgotten.
/// What its functions mean is said at their namesakes in wattle/clock.hpp; they need at least one
/// observation. Threads: one at a time.
class AnchorHistory {
 public:
  /// Takes note of a fresh comparison of the clocks; a changed relation becomes a new entry.
  void observe(const Anchor& now) noexcept;

  [[nodiscard]] double to_unix(TimePoint time) const noexcept;
  [[nodiscard]] TimePoint from_unix(double unix_s) const noexcept;
  [[nodiscard]] bool stepped_between(TimePoint begin, TimePoint end) const noexcept;

 private:
  [[nodiscard]] std::span<const Anchor> anchors() const noexcept {
    return std::span(anchors_).first(count_);
  }

  std::array<Anchor, 64> anchors_{};
  std::size_t count_ = 0;
};

}  // namespace wattle
