// What the tracking itself takes.
#pragma once

#include <chrono>
#include <cstdint>

namespace wattle {

/// Processor time, and threads that there are. Threads: a value type.
struct TrackerCost {
  std::chrono::nanoseconds cpu{0};
  std::uint64_t threads = 0;
};

}  // namespace wattle
