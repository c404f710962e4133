// Readings after the end of a window: a counter shows what was spent before the end only when it is
// renewed the next time (`SeenEnd`).
#pragma once

#include <chrono>

#include "sampling/readings.hpp"

namespace wattle {

/// For how long, at most, a command of this length is followed by such readings: half of that, and
/// 250 ms.
[[nodiscard]] std::chrono::nanoseconds longest_reading_on(std::chrono::nanoseconds length) noexcept;

/// Reads the counters that answer at once until each of them was renewed a few times, but for at
/// most `longest`. One that is renewed too seldom for that is not waited for. A processor's counter
/// takes 4 ms. To be called when the counters have just been read at the end.
void read_on(Readings& readings, std::chrono::nanoseconds longest);

/// The same of the counters in lanes, which takes two of their updates. Those that were not read
/// since `end` are not waited for.
void read_lanes_on(Readings& readings, TimePoint end, std::chrono::nanoseconds longest);

}  // namespace wattle
