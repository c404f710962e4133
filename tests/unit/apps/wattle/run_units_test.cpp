#include "run/run_units.hpp"

#include <gtest/gtest.h>

#include <string>

namespace wattle::app {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kRunBegin{100s};

Mark started(std::string tag, std::string id, double weight = 1.0) {
  return {.kind = MarkKind::unit, .name = std::move(tag), .id = std::move(id), .number = weight};
}

Mark ended(std::string tag, std::string id, double work = 0.0) {
  return {.kind = MarkKind::unit_end, .name = std::move(tag), .id = std::move(id), .number = work};
}

/// A run of a machine whose package draws 10 W.
class RunUnitsTest : public testing::Test {
 protected:
  RunUnitsTest()
      : units_(
            {{.place = 0, .domain = Domain::package(0)}},
            [this](std::size_t, TimePoint begin, TimePoint end) {
              MeasuredEnergy energy;
              const TimePoint known = std::min(end, fails_from_);
              if (end <= silent_until_) {
                energy.unknown = end - begin;
                return energy;
              }
              energy.energy = Joules(10.0 * Seconds(known - begin).count());
              energy.unknown = end - known;
              return energy;
            },
            [](std::size_t) { return std::optional<TimePoint>(); }, kRunBegin) {}

  /// Reads each 20 ms until then.
  void read_until(TimePoint end) {
    for (; at_ < end; at_ += 20ms) units_.read(at_);
  }

  RunUnits units_;
  TimePoint fails_from_ = TimePoint::max();
  TimePoint silent_until_ = TimePoint::min();  ///< nothing is known of windows that end before
  TimePoint at_ = kRunBegin;
};

TEST_F(RunUnitsTest, ShareWhatWasSpentWhileTheyRan) {
  read_until(kRunBegin + 1s);
  EXPECT_TRUE(units_.take(started("a", "1"), kRunBegin + 1s));
  EXPECT_TRUE(units_.take(started("a", "2", 3.0), kRunBegin + 1s));
  read_until(kRunBegin + 3s);
  EXPECT_TRUE(units_.take(ended("a", "1", 7.0), kRunBegin + 3s));
  EXPECT_TRUE(units_.take(ended("a", "2"), kRunBegin + 3s));
  read_until(kRunBegin + 5s);
  const UnitsReport report = units_.end(kRunBegin + 5s);
  ASSERT_EQ(report.tags.size(), 1U);
  EXPECT_EQ(report.tags.front().count, 2U);
  EXPECT_NEAR(report.tags.front().sum.si(), 20.0, 1e-6);
  EXPECT_EQ(report.tags.front().work, 7.0);
  const UnitBalance& balance = report.domains.front().balance;
  EXPECT_NEAR(balance.measured.si(), 50.0, 1e-9);
  EXPECT_NEAR(balance.without_units.si(), 30.0, 1e-6);
  EXPECT_EQ(report.waiting, 0U);
}

TEST_F(RunUnitsTest, ThatRunAtTheEndHaveNone) {
  EXPECT_TRUE(units_.take(started("a", "1"), kRunBegin));
  read_until(kRunBegin + 2s);
  const UnitsReport report = units_.end(kRunBegin + 2s);
  EXPECT_EQ(report.running, 1U);
  EXPECT_NEAR(report.domains.front().balance.running.si(), 20.0, 1e-6);
}

TEST_F(RunUnitsTest, AreKnownByTagAndId) {
  EXPECT_TRUE(units_.take(started("a", "1"), kRunBegin));
  EXPECT_TRUE(units_.take(started("b", "1"), kRunBegin));
  EXPECT_FALSE(units_.take(started("a", "1"), kRunBegin + 1ms)) << "it runs";
  EXPECT_FALSE(units_.take(ended("a", "2"), kRunBegin + 1ms)) << "it never started";
  EXPECT_TRUE(units_.take(ended("a", "1"), kRunBegin + 2ms));
  EXPECT_FALSE(units_.take(ended("a", "1"), kRunBegin + 3ms)) << "it has ended";
  EXPECT_TRUE(units_.take(started("a", "1"), kRunBegin + 4ms));
}

TEST_F(RunUnitsTest, HaveAWeight) {
  for (const double weight : {0.0, -1.0, 1e7}) {
    EXPECT_FALSE(units_.take(started("a", "1", weight), kRunBegin)) << weight;
  }
  EXPECT_TRUE(units_.take(started("a", "1"), kRunBegin));
}

TEST_F(RunUnitsTest, OfMarksThatAreReadLateStartWhereNothingIsDividedYet) {
  EXPECT_TRUE(units_.take(started("a", "1"), kRunBegin));
  read_until(kRunBegin + 10s);
  EXPECT_TRUE(units_.take(ended("a", "1"), kRunBegin + 1s));
  read_until(kRunBegin + 12s);
  const UnitsReport report = units_.end(kRunBegin + 12s);
  const UnitBalance& balance = report.domains.front().balance;
  EXPECT_NEAR(balance.measured.si(), 120.0, 1e-9);
  EXPECT_NEAR(balance.units.si() + balance.without_units.si(), 120.0, 1e-9);
  EXPECT_NEAR(report.tags.front().mean_time.count(), 9.0, 0.1);
}

TEST_F(RunUnitsTest, AreUnknownWhereNothingWasRead) {
  EXPECT_TRUE(units_.take(started("a", "1"), kRunBegin));
  fails_from_ = kRunBegin + 1s;
  read_until(kRunBegin + 2s);
  EXPECT_TRUE(units_.take(ended("a", "1"), kRunBegin + 2s));
  read_until(kRunBegin + 3s);
  const UnitsReport report = units_.end(kRunBegin + 3s);
  EXPECT_EQ(report.tags.front().count, 0U);
  EXPECT_EQ(report.tags.front().unknown, 1U);
}

TEST_F(RunUnitsTest, AreKnownWhereACounterMovesLate) {
  silent_until_ = kRunBegin + 100ms;
  EXPECT_TRUE(units_.take(started("a", "1"), kRunBegin + 50ms));
  read_until(kRunBegin + 2s);
  EXPECT_TRUE(units_.take(ended("a", "1"), kRunBegin + 2s));
  read_until(kRunBegin + 3s);
  const UnitsReport report = units_.end(kRunBegin + 3s);
  EXPECT_EQ(report.tags.front().unknown, 0U);
  // What was spent between two readings belongs to who ran then.
  EXPECT_NEAR(report.tags.front().sum.si(), 20.0, 1e-6);
}

TEST_F(RunUnitsTest, AreLimitedInNumber) {
  for (std::size_t i = 0; i < RunUnits::kMostRunning; ++i) {
    ASSERT_TRUE(units_.take(started("a", std::to_string(i)), kRunBegin));
  }
  EXPECT_TRUE(units_.take(started("a", "one more"), kRunBegin));
  EXPECT_EQ(units_.end(kRunBegin + 1s).refused, 1U);
}

}  // namespace
}  // namespace wattle::app
