// Counters that are read on after the end of a window.
#include "sampling/counters/seen_end.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <optional>

#include "known_history.hpp"
#include "sampling/integrate.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr double kBusyW = 200.0;
constexpr double kIdleW = 20.0;
constexpr nanoseconds kEnd = 50ms;

/// A counter of microjoules that is renewed 0.3 ms after each whole millisecond.
Channel microjoules(bool is_observed = false) {
  return {.domain = Domain::package(0),
          .counter = {.tick = Joules(1e-6), .max_power = Watts(1000.0)},
          .update = {.mean = 1ms, .p99 = 1ms, .is_observed = is_observed}};
}

/// Idle until 0 s, busy until `kEnd`, and idle from then on.
double energy_j(nanoseconds until) {
  const double until_s = Seconds(until).count();
  const double busy_s = std::min(std::max(until_s, 0.0), Seconds(kEnd).count());
  return kIdleW * (until_s + 1.0 - busy_s) + kBusyW * busy_s;
}

class ReadRun {
 public:
  explicit ReadRun(const Channel& channel, nanoseconds late = 0ms)
      : history_(channel, {.period = 10ms}), late_(late) {
    read(-4ms);
    read(-2ms);
    first_ = read(0ms);
    for (nanoseconds at = 10ms; at < kEnd; at += 10ms) read(at);
    last_ = read(kEnd + late);
  }
  void read_on(nanoseconds length, nanoseconds pause) {
    for (nanoseconds at = kEnd + late_ + pause; at <= kEnd + length; at += pause) read(at);
  }
  [[nodiscard]] std::optional<SeenEnd> end() const { return seen_end(*history_, last_); }
  [[nodiscard]] EnergyFigure figure() const {
    return counter_energy(*history_, {kBegin, kBegin + kEnd, first_, last_});
  }

 private:
  Boundary read(nanoseconds at) {
    const auto updates = std::floor((Seconds(at).count() - 0.3e-3) / 1e-3);
    const auto updated = std::chrono::duration_cast<nanoseconds>(Seconds(updates * 1e-3 + 0.3e-3));
    history_.read(at, static_cast<std::uint64_t>(std::llround(energy_j(updated) * 1e6)));
    return (*history_).last().value();
  }

  KnownHistory history_;
  nanoseconds late_;
  Boundary first_;
  Boundary last_;
};

TEST(SeenEnd, IsTheNextUpdateLessWhatWasSpentUntilThen) {
  ReadRun run{microjoules()};
  run.read_on(5ms, 100us);
  const std::optional<SeenEnd> end = run.end();
  ASSERT_TRUE(end);
  EXPECT_NEAR(end->power_after.si(), kIdleW, 1.0);
  // The last update before the end was 0.7 ms ago.
  EXPECT_NEAR(end->unseen.si(), kBusyW * 0.7e-3, kIdleW * 0.1e-3);
  EXPECT_NEAR(Seconds(end->interval).count(), 1e-3, 0.05e-3) << "as exactly as it was read";
}

TEST(SeenEnd, IsAbsentWhereTheCounterWasNotRenewedTwice) {
  ReadRun run{microjoules()};
  run.read_on(1200us, 100us);
  EXPECT_FALSE(run.end());
}

TEST(SeenEnd, IsAbsentWhereTheCounterWasReadTooRarely) {
  ReadRun run{microjoules()};
  run.read_on(9ms, 900us);
  EXPECT_FALSE(run.end()) << "nobody knows when it was renewed";
}

TEST(SeenEnd, MakesTheEnergyOfACommandWhatItSpent) {
  ReadRun run{microjoules()};
  const double truth_j = kBusyW * Seconds(kEnd).count();
  const EnergyFigure before = run.figure();
  run.read_on(5ms, 100us);
  const EnergyFigure after = run.figure();
  // At the start half an update of idle power is taken off on average; it was 0.7 of one.
  EXPECT_NEAR(after.energy.value().si(), truth_j, 0.01);
  EXPECT_GT(std::abs(before.energy.value().si() - truth_j), 0.1);
  EXPECT_LT(after.uncertainty, before.uncertainty);
  EXPECT_TRUE(after.ends_are_seen);
  EXPECT_FALSE(before.ends_are_seen);
}

TEST(SeenEnd, LeavesATenthOfWhatIsCommonInEachRun) {
  ReadRun run{microjoules()};
  const Joules common_before = run.figure().common;
  run.read_on(5ms, 100us);
  EXPECT_LT(5.0 * std::abs(run.figure().common.si()), std::abs(common_before.si()));
}

TEST(SeenEnd, IsAbsentOfACounterThatIsRenewedLessOftenThanPublished) {
  Channel slow = microjoules();
  slow.update = {.mean = 250us, .p99 = 250us};
  ReadRun run{slow};
  run.read_on(5ms, 100us);
  EXPECT_FALSE(run.end()) << "a fourth of what is published, or a pause";
  EXPECT_FALSE(run.figure().ends_are_seen);
}

TEST(SeenEnd, LeavesOutWhatCameBeforeALateReading) {
  // Another device had to be waited for: the counter was read 4 ms after the end.
  ReadRun run{microjoules(), 4ms};
  run.read_on(9ms, 100us);
  EXPECT_NEAR(run.figure().energy.value().si(), kBusyW * Seconds(kEnd).count(), 0.01);
  EXPECT_NEAR(run.figure().known.count(), Seconds(kEnd).count(), 1e-6);
}

}  // namespace
}  // namespace wattle
