// Counts every allocation of the process that it is linked to.
#pragma once

#include <cstdint>

namespace wattle {

/// Calls of malloc and its kind so far; 0 under a sanitizer, whose own allocator is in the way.
/// Threads: any.
[[nodiscard]] std::uint64_t allocations() noexcept;

/// How many allocations `work` makes, and whatever runs beside it.
template <class Work>
std::uint64_t allocations_of(Work work) {
  const std::uint64_t before = allocations();
  work();
  return allocations() - before;
}

}  // namespace wattle
