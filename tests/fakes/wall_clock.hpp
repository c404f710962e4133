// A wall clock that a test sets. Only for a program of its own: whoever links it has its own
// `clock_gettime`, which everything in it calls.
#pragma once

#include <cstdint>

namespace wattle::fakes {

/// From now on the wall clock of this program is off by this much. Threads: any.
void set_wall_clock_off(std::int64_t seconds) noexcept;

}  // namespace wattle::fakes
