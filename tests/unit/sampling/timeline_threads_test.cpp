// Several threads ask while one appends; every answer is compared with that of plain vectors which
// hold all readings from the beginning.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "plain_timeline.hpp"
#include "sampling/timeline/timeline.hpp"
#include "sanitized.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr std::size_t kReadings = kSanitized ? 300'000 : 10'000'000;
constexpr int kQueries = kSanitized ? 3'000 : 30'000;
constexpr int kReaders = 3;

constexpr TimelineOptions kBoundedCounter{.kind = TimelineKind::counter,
                                          .memory_limit = std::size_t{64} << 20U};
constexpr TimelineOptions kBoundedGauge{.kind = TimelineKind::gauge,
                                        .quantum = 100us,
                                        .period = 20ms,
                                        .hold = 40ms,
                                        .memory_limit = std::size_t{64} << 20U};

/// Readings of either kind, the same every time: late by up to a tenth of the period, now and then
/// after a gap; a value that climbs with noise, or repeats itself half of the time.
class Series {
 public:
  explicit Series(const TimelineOptions& options) : options_(options) {}

  template <class AnyTimeline>
  void append_to(AnyTimeline& timeline, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t dice = random_();
      deadline_ += dice % 5000 == 0 ? 10 * options_.period : options_.period;
      const auto late = static_cast<std::uint64_t>(options_.period.count()) / 10;
      if (options_.kind == TimelineKind::counter) {
        raw_ += 1900 + dice / 5000 % 128;
      } else if (dice / 5000 % 2 == 0) {
        raw_ = 300'000 + dice / 10'000 % 4096;
      }
      timeline.append(deadline_ + nanoseconds(dice % late), raw_);
    }
  }

 private:
  TimelineOptions options_;
  std::mt19937_64 random_{1};
  TimePoint deadline_{1h};
  std::uint64_t raw_ = 300'000;
};

/// Appends the series while several threads call `ask`, each `kQueries` times more when all is
/// appended. `ask` takes a random number and returns whether the answer was right.
void ask_while_appending(Timeline& timeline, Series series, std::size_t count,
                         const std::function<bool(std::uint64_t)>& ask) {
  std::atomic<bool> appending{true};
  std::atomic<std::uint64_t> wrong{0};
  std::vector<std::thread> readers;
  readers.reserve(kReaders);
  for (unsigned reader = 0; reader < kReaders; ++reader) {
    readers.emplace_back([&, reader] {
      std::mt19937_64 random(reader);
      while (timeline.size() == 0) std::this_thread::yield();
      while (appending) {
        if (!ask(random())) ++wrong;
      }
      for (int i = 0; i < kQueries; ++i) {
        if (!ask(random())) ++wrong;
      }
    });
  }
  series.append_to(timeline, count);
  appending = false;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0U);
}

/// Two times up to the newest reading, in order; half of them among the last few hundred readings.
std::pair<TimePoint, TimePoint> any_window(const Timeline& timeline, std::uint64_t dice) {
  const TimePoint newest = timeline.newest().value();
  std::mt19937_64 random(dice);
  const auto span = static_cast<std::uint64_t>((newest - TimePoint(1h)).count());
  const std::uint64_t near = dice % 2 == 0 ? span : std::min<std::uint64_t>(span, 300'000'000);
  const auto any = [&] { return newest - nanoseconds(near == 0 ? 0 : random() % near); };
  return std::minmax(any(), any());
}

TEST(TimelineThreads, CounterWindowsAndLookupsAreThoseOfAPlainVector) {
  PlainTimeline plain(kBoundedCounter);
  Series(kBoundedCounter).append_to(plain, kReadings);
  Timeline timeline(kBoundedCounter);
  ask_while_appending(timeline, Series(kBoundedCounter), kReadings, [&](std::uint64_t dice) {
    auto [begin, end] = any_window(timeline, dice);
    // Not at the newest reading: which one follows it is not known yet.
    begin -= 1us;
    end -= 1us;
    return timeline.at(begin) == plain.at(begin) && timeline.at(end) == plain.at(end) &&
           timeline.ticks_between(begin, end) == plain.ticks(begin, end);
  });
  EXPECT_EQ(timeline.size(), kReadings);
}

TEST(TimelineThreads, GaugeWindowsAreThoseOfAPlainVector) {
  PlainTimeline plain(kBoundedGauge);
  Series(kBoundedGauge).append_to(plain, kReadings);
  Timeline timeline(kBoundedGauge);
  ask_while_appending(timeline, Series(kBoundedGauge), kReadings, [&](std::uint64_t dice) {
    const auto [begin, end] = any_window(timeline, dice);
    return timeline.gauge_window(begin, end) == plain.integral(begin, end);
  });
  EXPECT_EQ(timeline.size(), plain.readings().size());
}

TEST(TimelineThreads, AnswersAreRightOrAbsentWhileReadingsAreDropped) {
  TimelineOptions options = kBoundedGauge;
  options.memory_limit = kMinTimelineBytes;
  PlainTimeline plain(options);
  Series(options).append_to(plain, kReadings / 10);
  Timeline timeline(options);
  ask_while_appending(timeline, Series(options), kReadings / 10, [&](std::uint64_t dice) {
    const auto [begin, end] = any_window(timeline, dice);
    const Bracket bracket = timeline.at(begin);
    const GaugeWindow window = timeline.gauge_window(begin, end);
    const bool dropped = begin < timeline.oldest().value();
    const bool reading_right =
        bracket.before ? bracket.before->raw == plain.at(begin).before->raw : dropped;
    return reading_right && (dropped || window == plain.integral(begin, end));
  });
  EXPECT_GT(timeline.dropped(), 0U);
}

}  // namespace
}  // namespace wattle
