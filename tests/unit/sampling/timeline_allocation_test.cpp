// Counts the allocations of its program.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "sampling/timeline.hpp"

namespace {

thread_local std::size_t allocations = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace wattle {
namespace {

using namespace std::chrono_literals;

TEST(TimelineAllocation, HappensAtConstructionOnly) {
  const std::size_t at_first = allocations;
  Timeline timeline({.kind = TimelineKind::gauge, .hold = 1ms, .memory_limit = kMinTimelineBytes});
  const std::size_t constructed = allocations;
  EXPECT_GT(constructed, at_first);
  for (unsigned i = 0; i < 10'000; ++i) timeline.append(TimePoint(i * 1ms), i * i);
  (void)timeline.at(TimePoint(9999ms));
  (void)timeline.gauge_window(TimePoint(0ms), TimePoint(10s));
  timeline.for_each(TimePoint(0ms), TimePoint(10s), [](const StoredReading&) {});
  EXPECT_GT(timeline.dropped(), 0U);
  EXPECT_EQ(allocations, constructed);
}

}  // namespace
}  // namespace wattle
