// Times of units: nanoseconds of the steady clock.
#pragma once

#include <chrono>
#include <cstdint>

#include "wattle/clock.hpp"

namespace wattle::detail {

inline constexpr double kSecondsPerNs = 1e-9;

[[nodiscard]] inline std::int64_t ns_of(TimePoint time) noexcept {
  return std::chrono::nanoseconds(time.time_since_epoch()).count();
}
[[nodiscard]] inline TimePoint time_of_ns(std::int64_t ns) noexcept {
  return TimePoint(std::chrono::nanoseconds(ns));
}
[[nodiscard]] constexpr double seconds_of_ns(std::int64_t ns) noexcept {
  return static_cast<double>(ns) * kSecondsPerNs;
}

}  // namespace wattle::detail
