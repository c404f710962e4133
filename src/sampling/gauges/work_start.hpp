// The energy that a gauge does not show of work which starts with the window.
#pragma once

#include <chrono>

#include "sampling/gauges/gauge_kernel.hpp"
#include "sampling/history.hpp"

namespace wattle {

/// A window of a gauge is moved back by `lag`, the mean lateness of its values. A rise of the power
/// at the start is shown sooner than that in some runs, and later in others: what is shown later is
/// lacking in the window, and what is shown sooner is before it. On average that is
///
///   D * integral of (1 - f(t)) from `lag` on     D: by how much the power rose at `begin`
///
/// where f(t) is the part of the step that the reading which is shown at t after it has on average,
/// over all phases of the updates: an update is up to an interval old when it is read, and shows
/// the mean over the window before it. When the values were read is known.
///
/// D is from the value that is shown at `begin` to the first one that is about the time after it
/// alone. 0 where one of them is absent, or comes after `end`, and of a gauge that follows the
/// power with a lag, or whose window is not known.
[[nodiscard]] Joules lacking_of_work(const History& history, const GaugeKernel& kernel,
                                     TimePoint begin, TimePoint end,
                                     std::chrono::nanoseconds lag) noexcept;

}  // namespace wattle
