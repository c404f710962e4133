#include "base/clock.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "wattle/unix_times.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;

TEST(Clock, IsTheSteadyClock) {
  const TimePoint before = std::chrono::steady_clock::now();
  const TimePoint now = machine_clock().now();
  const TimePoint after = std::chrono::steady_clock::now();
  EXPECT_LE(before, now);
  EXPECT_LE(now, after);
}

TEST(Clock, TimeSuspendedIsNotNegative) {
  // Two clocks are read one after the other: less than nothing only by that.
  EXPECT_GT(machine_clock().suspended(), -1s);
}

TEST(Clock, AgreesWithTheWallClock) {
  using std::chrono::system_clock;
  const auto wall = [] { return Seconds(system_clock::now().time_since_epoch()).count(); };
  const double before = wall();
  const double now = to_unix(TimePoint::clock::now());
  const double after = wall();
  constexpr double kMargin = 0.01;
  EXPECT_GE(now, before - kMargin);
  EXPECT_LE(now, after + kMargin);
}

TEST(Clock, ConvertsManyTimesAsItConvertsOne) {
  const TimePoint now = TimePoint::clock::now();
  const std::vector<TimePoint> times = {now, now - 1h, now + 1ns, now};
  std::vector<double> unix_s(times.size());
  to_unix(times, unix_s);
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_EQ(unix_s[i], to_unix(times[i]));
  to_unix({}, {});
}

TEST(Clock, WallTimeConvertsBack) {
  const TimePoint now = TimePoint::clock::now();
  const TimePoint back = from_unix(to_unix(now));
  // A double resolves 0.24 us of the time since 1970; a slewed clock may add to that.
  EXPECT_LE(std::chrono::abs(back - now), 1ms);
}

/// A second after 1970 a double tells nanoseconds: more than two comparisons of the clocks agree
/// on.
TEST(Clock, BothConversionsKnowOneHistory) {
  EXPECT_EQ(to_unix(from_unix(1.0)), 1.0);
  EXPECT_EQ(to_unix(from_unix(2.5)), 2.5);
}

TEST(Clock, NoStepIsSeenWithinAnInstant) {
  const TimePoint now = TimePoint::clock::now();
  EXPECT_FALSE(wall_clock_stepped(now, now));
}

TEST(ClockDeathTest, OutlivesAllThatRunsWhenTheProgramEnds) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process in which nobody has asked yet
  const auto end_with_a_look = [] {
    // Runs after the clock would be destroyed, which is first used later.
    (void)std::atexit([] {
      if (machine_clock().now() == TimePoint{}) ::_exit(2);
    });
    (void)machine_clock();
    std::exit(0);  // NOLINT(concurrency-mt-unsafe): the only thread
  };
  EXPECT_EXIT(end_with_a_look(), testing::ExitedWithCode(0), "");
}

TEST(Clock, NotANumberIsTheEpoch) { EXPECT_EQ(from_unix(std::nan("")), TimePoint{}); }

}  // namespace
}  // namespace wattle
