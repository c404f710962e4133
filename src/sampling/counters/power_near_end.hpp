// The power that a counter shows near an end of a window.
#pragma once

#include <chrono>
#include <optional>

#include "sampling/history.hpp"

namespace wattle {

/// Mean power between two times that lie between readings.
[[nodiscard]] std::optional<Watts> mean_power(const History& history, TimePoint begin,
                                              TimePoint end) noexcept;

/// How far off a line between two readings can be at `end`. Over less than a few updates of the
/// counter the power is noise.
[[nodiscard]] Joules interpolation_bound(const History& history, const Boundary& end,
                                         std::chrono::nanoseconds few_updates) noexcept;

/// The power after `at`, or before it where `sign` is -1, over a few updates of the counter: where
/// it changed there, the highest mean that the updates allow, as it may have been higher still
/// since the last one.
[[nodiscard]] std::optional<Watts> power_beside(const History& history, TimePoint at,
                                                int sign) noexcept;

}  // namespace wattle
