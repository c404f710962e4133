// Many times at once in seconds since 1970, for tables and arrays.
#pragma once

#include <span>

#include "wattle/clock.hpp"
#include "wattle/export.hpp"

namespace wattle {

/// `to_unix` of many times, which share one comparison of the clocks: a few nanoseconds each.
/// `unix_s` has as many elements as `times`. Never fails. Threads: any.
WATTLE_EXPORT void to_unix(std::span<const TimePoint> times, std::span<double> unix_s) noexcept;

}  // namespace wattle
