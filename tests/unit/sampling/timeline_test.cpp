#include "sampling/timeline/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "wattle/error.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr TimePoint at(nanoseconds time) { return TimePoint(time); }

/// Read every millisecond, kept to the microsecond.
constexpr TimelineOptions kCounter{.kind = TimelineKind::counter};
/// Read every 50 ms, kept to 100 us, held for 100 ms.
constexpr TimelineOptions kGauge{
    .kind = TimelineKind::gauge, .quantum = 100us, .period = 50ms, .hold = 100ms};

StoredReading reading(nanoseconds time, std::uint64_t raw) {
  return {.first_seen = at(time), .last_confirmed = at(time), .raw = raw};
}

/// `count` readings, one a millisecond from 1 ms on, each 10 more than the one before.
void append_steady(Timeline& timeline, int count) {
  for (int i = 0; i < count; ++i) timeline.append(at((i + 1) * 1ms), 10 * static_cast<unsigned>(i));
}

std::vector<StoredReading> all(const Timeline& timeline, TimePoint begin, TimePoint end) {
  std::vector<StoredReading> readings;
  timeline.for_each(begin, end, [&](const StoredReading& stored) { readings.push_back(stored); });
  return readings;
}

TEST(Timeline, KnowsNothingWhileEmpty) {
  const Timeline timeline(kCounter);
  EXPECT_EQ(timeline.size(), 0U);
  EXPECT_EQ(timeline.oldest(), std::nullopt);
  EXPECT_EQ(timeline.newest(), std::nullopt);
  EXPECT_EQ(timeline.at(at(1s)), Bracket{});
  EXPECT_EQ(timeline.ticks_between(at(0s), at(1s)), std::nullopt);
  EXPECT_THAT(all(timeline, at(0s), at(1s)), IsEmpty());
  EXPECT_EQ(Timeline(kGauge).gauge_window(at(0s), at(1s)), GaugeWindow{});
}

TEST(Timeline, FindsTheReadingsAroundATime) {
  Timeline timeline(kCounter);
  timeline.append(at(10ms), 100);
  timeline.append(at(20ms), 300);
  EXPECT_EQ(timeline.at(at(9ms)), (Bracket{.after = reading(10ms, 100)}));
  EXPECT_EQ(timeline.at(at(10ms)),
            (Bracket{.before = reading(10ms, 100), .after = reading(20ms, 300)}));
  EXPECT_EQ(timeline.at(at(19ms)),
            (Bracket{.before = reading(10ms, 100), .after = reading(20ms, 300)}));
  EXPECT_EQ(timeline.at(at(20ms)), (Bracket{.before = reading(20ms, 300)}));
  EXPECT_EQ(timeline.at(at(1h)), (Bracket{.before = reading(20ms, 300)}));
}

TEST(Timeline, FindsTheReadingsAroundATimeInEveryChunk) {
  Timeline timeline(kCounter);
  append_steady(timeline, 1000);
  for (unsigned i = 0; i + 1 < 1000; ++i) {
    const nanoseconds time = (i + 1) * 1ms;
    ASSERT_EQ(timeline.at(at(time + 500us)), (Bracket{.before = reading(time, 10 * i),
                                                      .after = reading(time + 1ms, 10 * i + 10)}));
  }
}

TEST(Timeline, RoundsTimesDownToItsQuantum) {
  Timeline timeline(kCounter);
  timeline.append(at(10'999ns), 1);
  EXPECT_EQ(timeline.oldest(), at(10us));
}

TEST(Timeline, FindsAReadingAtTheTimeItWasAppendedWith) {
  Timeline timeline(kCounter);
  timeline.append(at(10'999ns), 1);
  timeline.append(at(20'999ns), 2);
  EXPECT_EQ(timeline.at(at(10'999ns)).before, reading(10us, 1));
  EXPECT_EQ(timeline.ticks_between(at(10'999ns), at(20'999ns)), 1.0);
}

TEST(Timeline, TakesAnEarlierTimeAsThePreviousOne) {
  Timeline timeline(kCounter);
  timeline.append(at(10ms), 1);
  timeline.append(at(9ms), 2);
  EXPECT_THAT(all(timeline, at(0s), at(1s)), ElementsAre(reading(10ms, 1), reading(10ms, 2)));
}

TEST(Timeline, TakesATimeBeforeTheEpochAsTheEpoch) {
  Timeline timeline(kCounter);
  timeline.append(at(-10ms), 1);
  EXPECT_EQ(timeline.oldest(), at(0s));
  EXPECT_EQ(timeline.at(at(-1ms)).before, reading(0s, 1));
}

TEST(Timeline, KeepsAllReadingsOfOneInstantAndFindsTheLast) {
  Timeline timeline(kCounter);
  for (unsigned i = 0; i < 1000; ++i) timeline.append(at(5ms), i);
  EXPECT_EQ(timeline.at(at(5ms)), (Bracket{.before = reading(5ms, 999)}));
  EXPECT_EQ(timeline.at(at(4ms)), (Bracket{.after = reading(5ms, 0)}));
  EXPECT_EQ(all(timeline, at(5ms), at(5ms)).size(), 1000U);
}

TEST(Timeline, KeepsTheLargestValuesAndTheLongestGaps) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::vector<StoredReading> readings = {
      reading(0s, kMost), reading(24h, 0), reading(24h + 1us, kMost / 2), reading(24h * 36500, 1)};
  Timeline timeline(kCounter);
  for (int i = 0; i < 100; ++i) timeline.append(at(0s), 0);
  for (const StoredReading& stored : readings) timeline.append(stored.first_seen, stored.raw);
  for (int i = 0; i < 100; ++i) timeline.append(at(24h * 36501), 0);
  EXPECT_EQ(timeline.at(at(23h)), (Bracket{.before = readings[0], .after = readings[1]}));
  EXPECT_EQ(timeline.at(at(25h)), (Bracket{.before = readings[2], .after = readings[3]}));
}

TEST(Timeline, VisitsTheReadingsOfARange) {
  Timeline timeline(kCounter);
  append_steady(timeline, 1000);
  EXPECT_THAT(all(timeline, at(128ms), at(130ms)),
              ElementsAre(reading(128ms, 1270), reading(129ms, 1280), reading(130ms, 1290)));
  EXPECT_THAT(all(timeline, at(1000ms), at(2s)), ElementsAre(reading(1000ms, 9990)));
  EXPECT_EQ(all(timeline, at(0s), at(2s)).size(), 1000U);
  EXPECT_THAT(all(timeline, at(2s), at(0s)), IsEmpty());
}

TEST(TimelineTicksBetween, IsLinearBetweenReadings) {
  Timeline timeline(kCounter);
  timeline.append(at(10ms), 1000);
  timeline.append(at(20ms), 2000);
  timeline.append(at(30ms), 5000);
  EXPECT_DOUBLE_EQ(timeline.ticks_between(at(15ms), at(22ms)).value(), 500 + 600);
  EXPECT_DOUBLE_EQ(timeline.ticks_between(at(11ms), at(12ms)).value(), 100);
  EXPECT_DOUBLE_EQ(timeline.ticks_between(at(10ms), at(30ms)).value(), 4000);
  EXPECT_DOUBLE_EQ(timeline.ticks_between(at(15ms), at(15ms)).value(), 0);
}

TEST(TimelineTicksBetween, IsAbsentBeyondTheReadings) {
  Timeline timeline(kCounter);
  timeline.append(at(10ms), 1000);
  timeline.append(at(20ms), 2000);
  EXPECT_EQ(timeline.ticks_between(at(9ms), at(15ms)), std::nullopt);
  EXPECT_EQ(timeline.ticks_between(at(15ms), at(21ms)), std::nullopt);
}

TEST(TimelineGauge, StoresAValueThatIsReadAgainOnce) {
  Timeline timeline(kGauge);
  timeline.append(at(0ms), 7);
  timeline.append(at(50ms), 7);
  timeline.append(at(100ms), 7);
  timeline.append(at(150ms), 8);
  EXPECT_EQ(timeline.size(), 2U);
  EXPECT_EQ(timeline.newest(), at(150ms));
  EXPECT_EQ(timeline.at(at(120ms)),
            (Bracket{.before = StoredReading{at(0ms), at(100ms), 7}, .after = reading(150ms, 8)}));
}

TEST(TimelineGauge, ConfirmsTheNewestReadingOfAFullChunk) {
  Timeline timeline(kGauge);
  for (unsigned i = 1; i <= kChunkReadings; ++i) timeline.append(at(i * 50ms), i);
  timeline.append(at((kChunkReadings + 1) * 50ms), kChunkReadings);
  EXPECT_EQ(timeline.size(), kChunkReadings);
  EXPECT_EQ(timeline.newest(), at((kChunkReadings + 1) * 50ms));
}

TEST(TimelineGauge, StoresAValueAgainThatComesBackAfterAGap) {
  Timeline timeline(kGauge);
  timeline.append(at(0ms), 7);
  timeline.append(at(101ms), 7);
  EXPECT_EQ(timeline.size(), 2U);
}

TEST(TimelineGaugeWindow, OfConstantPowerStoredOnceIsItsEnergy) {
  Timeline timeline(kGauge);
  for (auto time = 0ms; time <= 10s; time += 50ms) timeline.append(at(time), 100'000);
  EXPECT_EQ(timeline.size(), 1U);
  const GaugeWindow window = timeline.gauge_window(at(0s), at(10s));
  constexpr std::uint64_t kThousandJoules = 1'000'000'000'000;  // mW x ns = 1e-12 J
  EXPECT_TRUE(window.raw_ns == Uint128{kThousandJoules} * 1000);
  EXPECT_EQ(window.known, 10s);
}

TEST(TimelineGaugeWindow, CountsTheValueHeldAtItsBegin) {
  Timeline timeline(kGauge);
  timeline.append(at(0ms), 10);
  timeline.append(at(80ms), 20);
  const GaugeWindow window = timeline.gauge_window(at(30ms), at(90ms));
  EXPECT_TRUE(window.raw_ns == 10U * 50'000'000U + 20U * 10'000'000U);
  EXPECT_EQ(window.known, 60ms);
}

TEST(TimelineGaugeWindow, IsClippedToTheNanosecond) {
  Timeline timeline(kGauge);
  timeline.append(at(0ms), 10);
  const GaugeWindow window = timeline.gauge_window(at(10'000'001ns), at(10'000'004ns));
  EXPECT_TRUE(window.raw_ns == 30U);
  EXPECT_EQ(window.known, 3ns);
}

TEST(TimelineGaugeWindow, HoldsAValueNoLongerThanAsked) {
  Timeline timeline(kGauge);
  timeline.append(at(0ms), 10);
  timeline.append(at(50ms), 10);
  timeline.append(at(400ms), 20);
  const GaugeWindow window = timeline.gauge_window(at(0ms), at(600ms));
  EXPECT_TRUE(window.raw_ns == 10U * 150'000'000U + 20U * 100'000'000U);
  EXPECT_EQ(window.known, 250ms);
  EXPECT_EQ(timeline.gauge_window(at(200ms), at(300ms)), GaugeWindow{});
  EXPECT_EQ(timeline.gauge_window(at(501ms), at(502ms)), GaugeWindow{});
}

TEST(TimelineGaugeWindow, KnowsNothingBeforeTheFirstReading) {
  Timeline timeline(kGauge);
  timeline.append(at(100ms), 10);
  EXPECT_EQ(timeline.gauge_window(at(0ms), at(50ms)), GaugeWindow{});
  EXPECT_EQ(timeline.gauge_window(at(0ms), at(150ms)).known, 50ms);
}

TEST(TimelineGaugeWindow, DoesNotOverflow) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  TimelineOptions options = kGauge;
  options.hold = 24h * 366;
  Timeline timeline(options);
  timeline.append(at(0s), kMost);
  timeline.append(at(24h * 365), kMost - 1);
  const GaugeWindow window = timeline.gauge_window(at(0s), at(24h * 365 + 1ns));
  constexpr std::uint64_t kYearNs = std::uint64_t{365} * 24 * 3600 * 1'000'000'000;
  EXPECT_TRUE(window.raw_ns == Uint128{kMost} * kYearNs + kMost - 1);
}

TEST(TimelineMemory, StaysWithinItsLimitAndDropsTheOldest) {
  TimelineOptions options = kCounter;
  options.memory_limit = 32768;
  Timeline timeline(options);
  for (unsigned i = 0; i < 100'000; ++i) {
    timeline.append(at(i * 1ms), i * 2000 + i * i % 1000);
    ASSERT_LE(timeline.memory_bytes(), options.memory_limit);
    ASSERT_EQ(timeline.size() + timeline.dropped(), i + 1);
  }
  EXPECT_GT(timeline.dropped(), 0U);
  EXPECT_GT(timeline.size(), 10'000U);
  EXPECT_EQ(timeline.oldest(), at(timeline.dropped() * 1ms));
  EXPECT_EQ(all(timeline, at(0s), at(100s)).size(), timeline.size());
}

TEST(TimelineMemory, KeepsWhatFollowsADroppedReading) {
  TimelineOptions options = kGauge;
  options.memory_limit = kMinTimelineBytes;
  Timeline timeline(options);
  for (unsigned i = 0; i < 100'000; ++i) timeline.append(at(i * 50ms), i);
  const TimePoint oldest = timeline.oldest().value();
  EXPECT_EQ(timeline.at(oldest - 1ms),
            (Bracket{.after = reading(oldest.time_since_epoch(), timeline.dropped())}));
  EXPECT_EQ(timeline.gauge_window(at(0s), oldest), GaugeWindow{});
  EXPECT_EQ(timeline.gauge_window(at(0s), oldest + 75ms).known, 75ms);
  const std::uint64_t first = timeline.dropped();
  EXPECT_TRUE(timeline.gauge_window(at(0s), oldest + 75ms).raw_ns ==
              first * 50'000'000 + (first + 1) * 25'000'000);
}

TEST(TimelineMemory, IsEnoughForReadingsThatDoNotCompress) {
  TimelineOptions options = kGauge;
  options.memory_limit = kMinTimelineBytes;
  Timeline timeline(options);
  std::uint64_t raw = 1;
  for (unsigned i = 0; i < 10'000; ++i) {
    raw *= 6364136223846793005U;
    timeline.append(at(i * 50ms + nanoseconds(raw % 100'000'000'000)), raw);
    ASSERT_LE(timeline.memory_bytes(), options.memory_limit);
  }
  EXPECT_GT(timeline.size(), kChunkReadings);
}

TEST(Timeline, RefusesOptionsOutOfRange) {
  const auto with = [](auto change) {
    TimelineOptions options = kGauge;
    change(options);
    return options;
  };
  using Options = TimelineOptions;
  EXPECT_THROW(Timeline(with([](Options& o) { o.quantum = 0ns; })), InvalidArgument);
  EXPECT_THROW(Timeline(with([](Options& o) { o.period = 99us; })), InvalidArgument);
  EXPECT_THROW(Timeline(with([](Options& o) { o.hold = -1ns; })), InvalidArgument);
  EXPECT_THROW(Timeline(with([](Options& o) { o.memory_limit = kMinTimelineBytes - 1; })),
               InvalidArgument);
}

TEST(Timeline, KnowsSinceWhenItsNewestReadingsAre) {
  Timeline timeline(kCounter);
  append_steady(timeline, 300);
  EXPECT_EQ(timeline.since_newest(1), at(300ms));
  EXPECT_EQ(timeline.since_newest(100), at(201ms));
  EXPECT_EQ(timeline.since_newest(299), at(2ms));
  EXPECT_EQ(timeline.since_newest(300), std::nullopt);
  EXPECT_EQ(timeline.since_newest(1000), std::nullopt);
}

TEST(Timeline, KnowsWhenItsNewestReadingWasConfirmed) {
  Timeline timeline(kGauge);
  timeline.append(at(10ms), 1);
  timeline.append(at(60ms), 1);
  EXPECT_EQ(timeline.newest(), at(60ms));
  for (unsigned i = 0; i < 200; ++i) timeline.append(at((i + 2) * 50ms), i + 2);
  EXPECT_EQ(timeline.newest(), at(201 * 50ms));
}

TEST(Timeline, HoldsAsManyReadingsAsItHasRoomForWhateverTheyAre) {
  constexpr std::uint64_t kCount = 5000;
  TimelineOptions options = kGauge;
  options.memory_limit = timeline_bytes_for(kCount);
  Timeline timeline(options);
  std::uint64_t raw = 1;
  TimePoint time = at(0s);
  for (std::uint64_t i = 0; i < 4 * kCount; ++i) {
    raw = raw * 6364136223846793005U + 1442695040888963407U;  // no two alike: nothing to compress
    time += nanoseconds(raw % 100'000'000'000);
    timeline.append(time, raw);
    ASSERT_GE(timeline.size(), std::min(i + 1, kCount));
  }
}

TEST(Timeline, HasNoMoreRoomThanThereIs) {
  EXPECT_EQ(timeline_bytes_for(std::numeric_limits<std::uint64_t>::max()),
            std::numeric_limits<std::size_t>::max());
  EXPECT_GE(timeline_bytes_for(0), kMinTimelineBytes);
}

}  // namespace
}  // namespace wattle
