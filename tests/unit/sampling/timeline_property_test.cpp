// A timeline and a plain one are given the same readings and asked the same questions.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "plain_timeline.hpp"
#include "sampling/timeline/timeline.hpp"
#include "sanitized.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

/// Readings that change their nature every few hundred: regular, jittery, with gaps of up to a day,
/// many in one instant; values that climb, stand still, jump, or are anything at all.
class AnySeries {
 public:
  AnySeries(std::uint64_t seed, nanoseconds period) : random_(seed), period_(period) {}

  StoredReading next() {
    if (random_() % 300 == 0) change_nature();
    time_ += next_distance();
    raw_ = next_raw();
    return {.first_seen = TimePoint(time_), .last_confirmed = TimePoint(time_), .raw = raw_};
  }

  std::uint64_t random() { return random_(); }

 private:
  void change_nature() {
    times_ = static_cast<Times>(random_() % 4);
    values_ = static_cast<Values>(random_() % 4);
    step_ = random_() % 5000;
  }

  nanoseconds up_to(nanoseconds most) {
    return nanoseconds(random_() % static_cast<std::uint64_t>(most.count()));
  }

  nanoseconds next_distance() {
    switch (times_) {
      case Times::regular:
        return period_;
      case Times::jittery:
        return period_ / 2 + up_to(period_);
      case Times::gaps:
        return random_() % 20 == 0 ? up_to(24h) : period_;
      case Times::bursts:
        break;
    }
    return random_() % 50 == 0 ? up_to(period_) : 0ns;
  }

  std::uint64_t next_raw() {
    switch (values_) {
      case Values::climb:
        return raw_ + step_ + random_() % 100;
      case Values::still:
        return random_() % 10 == 0 ? raw_ + 1 : raw_;
      case Values::jumps:
        return random_() % 20 == 0 ? random_() : raw_ + step_;
      case Values::anything:
        break;
    }
    return random_() >> (random_() % 64);
  }

  enum class Times : std::uint8_t { regular, jittery, gaps, bursts };
  enum class Values : std::uint8_t { climb, still, jumps, anything };

  std::mt19937_64 random_;
  nanoseconds period_;
  Times times_ = Times::regular;
  Values values_ = Values::climb;
  std::uint64_t step_ = 0;
  nanoseconds time_ = 1h;
  std::uint64_t raw_ = 0;
};

void expect_same_answers(const Timeline& timeline, const PlainTimeline& plain, TimePoint begin,
                         TimePoint end) {
  ASSERT_EQ(timeline.at(begin), plain.at(begin));
  ASSERT_EQ(timeline.at(end), plain.at(end));
  ASSERT_EQ(timeline.ticks_between(begin, end), plain.ticks(begin, end));
}

void expect_same_integral(const Timeline& timeline, const PlainTimeline& plain, TimePoint begin,
                          TimePoint end) {
  ASSERT_TRUE(timeline.gauge_window(begin, end) == plain.integral(begin, end));
}

/// The readings of a window and the last one before it, with the squares of all changes between.
void expect_same_changes(const Timeline& timeline, const PlainTimeline& plain, TimePoint begin,
                         TimePoint end) {
  std::vector<StoredReading> expected;
  for (const StoredReading& reading : plain.readings()) {
    if (reading.first_seen > end) break;
    if (reading.first_seen < begin) expected.clear();
    expected.push_back(reading);
  }
  // Times are asked for on the grid, where a reading is at its own time.
  std::vector<StoredReading> visited;
  Uint128 first = 0;
  Uint128 last = 0;
  timeline.for_each_change(begin, end, [&](const StoredReading& reading, Uint128 changes) {
    if (visited.empty()) first = changes;
    last = changes;
    visited.push_back(reading);
  });
  ASSERT_EQ(visited, expected);
  Uint128 changes = 0;
  for (std::size_t i = 1; i < expected.size(); ++i) {
    changes += squared_difference(expected[i].raw, expected[i - 1].raw);
  }
  ASSERT_TRUE(last - first == changes);
}

/// As above, of times on the grid.
void expect_same_changes_on_grid(const Timeline& timeline, const PlainTimeline& plain,
                                 TimePoint begin, TimePoint end) {
  const auto on_grid = [](TimePoint time) {
    return TimePoint(time.time_since_epoch() / 100us * 100us);
  };
  expect_same_changes(timeline, plain, on_grid(begin), on_grid(end));
}

/// Many short histories, compared from begin to end and at random places.
template <class Expect>
void expect_same(const TimelineOptions& options, Expect expect) {
  for (std::uint64_t seed = 1; seed <= (kSanitized ? 10 : 60); ++seed) {
    SCOPED_TRACE(seed);
    AnySeries series(seed, options.period);
    Timeline timeline(options);
    PlainTimeline plain(options);
    const std::size_t count = series.random() % 3000;
    for (std::size_t i = 0; i <= count; ++i) {
      const StoredReading next = series.next();
      timeline.append(next.first_seen, next.raw);
      plain.append(next.first_seen, next.raw);
    }
    const auto& readings = plain.readings();
    ASSERT_EQ(timeline.size(), readings.size());
    std::vector<StoredReading> visited;
    timeline.for_each(TimePoint(0ns), TimePoint(nanoseconds::max()),
                      [&](const StoredReading& stored) { visited.push_back(stored); });
    ASSERT_EQ(visited, readings);

    const auto any_time = [&] {
      const StoredReading& near = readings[series.random() % readings.size()];
      return near.first_seen + nanoseconds(series.random() % 3 * (series.random() % 100'000'000)) -
             1ms;
    };
    for (int query = 0; query < 500; ++query) {
      const auto [begin, end] = std::minmax({any_time(), any_time()});
      expect(timeline, plain, begin, end);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(TimelineProperty, CounterAnswersLikeAPlainVector) {
  expect_same({.kind = TimelineKind::counter, .quantum = 1us, .period = 1ms}, expect_same_answers);
}

TEST(TimelineProperty, CounterOfOddQuantumAndPeriodAnswersLikeAPlainVector) {
  expect_same({.kind = TimelineKind::counter, .quantum = 7ns, .period = 1234567ns},
              expect_same_answers);
}

TEST(TimelineProperty, GaugeIntegratesLikeAPlainVector) {
  expect_same({.kind = TimelineKind::gauge, .quantum = 100us, .period = 20ms, .hold = 50ms},
              expect_same_integral);
}

TEST(TimelineProperty, GaugeHeldForADayIntegratesLikeAPlainVector) {
  expect_same({.kind = TimelineKind::gauge, .quantum = 1us, .period = 1ms, .hold = 24h},
              expect_same_integral);
}

TEST(TimelineProperty, GaugeAddsUpItsChangesLikeAPlainVector) {
  expect_same({.kind = TimelineKind::gauge, .quantum = 100us, .period = 20ms, .hold = 50ms},
              expect_same_changes_on_grid);
}

}  // namespace
}  // namespace wattle
