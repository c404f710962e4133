// A day at 1 kHz. Outside the usual tests: 86 million readings take half a minute.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "sampling/timeline/timeline.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

constexpr std::uint64_t kReadings = 86'400'000;

/// Every reading follows from its number: nothing needs to be kept to check what was stored.
std::uint64_t scramble(std::uint64_t i) { return (i * 0x9E3779B97F4A7C15U) >> 32U; }
/// A millisecond apart, up to 63 us late.
TimePoint time_of(std::uint64_t i) {
  return TimePoint(1h) + microseconds(i * 1000 + scramble(i) % 64);
}
/// 120 W in units of 2^-14 J, with noise.
std::uint64_t raw_of(std::uint64_t i) { return i * 1966 + scramble(i + 1) % 128; }

StoredReading reading(std::uint64_t i) {
  return {.first_seen = time_of(i), .last_confirmed = time_of(i), .raw = raw_of(i)};
}

void append_a_day(Timeline& timeline) {
  for (std::uint64_t i = 0; i < kReadings; ++i) timeline.append(time_of(i), raw_of(i));
}

TEST(TimelineSoak, KeepsADayAtOneKilohertz) {
  Timeline timeline({.kind = TimelineKind::counter, .memory_limit = std::size_t{256} << 20U});
  append_a_day(timeline);
  ASSERT_EQ(timeline.size(), kReadings);
  EXPECT_LT(timeline.memory_bytes(), kReadings * 5 / 2);

  std::mt19937_64 random(1);
  for (int query = 0; query < 1'000'000; ++query) {
    const std::uint64_t i = random() % (kReadings - 1);
    ASSERT_EQ(timeline.at(time_of(i) + 500us),
              (Bracket{.before = reading(i), .after = reading(i + 1)}));
  }
  std::uint64_t visited = 0;
  timeline.for_each(time_of(0), time_of(kReadings - 1), [&](const StoredReading& stored) {
    if (stored == reading(visited)) ++visited;
  });
  EXPECT_EQ(visited, kReadings);
}

TEST(TimelineSoak, KeepsTheLastHoursOfADayInLittleMemory) {
  constexpr std::size_t kLimit = std::size_t{16} << 20U;
  Timeline timeline({.kind = TimelineKind::counter, .memory_limit = kLimit});
  append_a_day(timeline);
  EXPECT_LE(timeline.memory_bytes(), kLimit);
  EXPECT_GT(timeline.memory_bytes(), kLimit * 9 / 10);
  std::uint64_t next = timeline.dropped();
  timeline.for_each(time_of(0), time_of(kReadings - 1), [&](const StoredReading& stored) {
    if (stored == reading(next)) ++next;
  });
  EXPECT_EQ(next, kReadings);
}

}  // namespace
}  // namespace wattle
