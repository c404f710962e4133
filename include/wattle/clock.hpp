// The one clock of Wattle, and its relation to the wall clock.
#pragma once

#include <chrono>

#include "wattle/export.hpp"

namespace wattle {

/// Every time inside Wattle and in its public API: the steady clock (CLOCK_MONOTONIC on Linux).
/// It never steps and does not advance while the machine is suspended.
using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
/// A length of time in seconds.
using Seconds = std::chrono::duration<double>;

/// `time` as seconds since 1970-01-01 UTC, resolution 1 ns before rounding to double (about 0.2
/// us). The two clocks are compared at every call. If the wall clock was stepped, a time before the
/// step is converted with the relation that held then. So the answer is the wall clock's value at
/// that moment. Steps seen by neither this function nor `from_unix` at the time are dated to the
/// first call after them. Never fails. Threads: any.
[[nodiscard]] WATTLE_EXPORT double to_unix(TimePoint time) noexcept;

/// The inverse of `to_unix`. A wall time that occurred twice (the clock was set back) means the
/// later one. One that never occurred (it was set forward) gives the moment of the step. A value
/// that the clock cannot hold, or NaN, gives the nearest end of its range, or the epoch of the
/// steady clock. Threads: any.
[[nodiscard]] WATTLE_EXPORT TimePoint from_unix(double unix_s) noexcept;

/// True if the wall clock was seen to step between the two times: durations computed from their
/// wall times are then wrong by that step. Threads: any.
[[nodiscard]] WATTLE_EXPORT bool wall_clock_stepped(TimePoint begin, TimePoint end) noexcept;

}  // namespace wattle
