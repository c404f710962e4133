// Windows in Unix seconds while the wall clock is set: a program of its own.
#include "fakes/wall_clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <utility>

#include "played_machine.hpp"
#include "wattle/error.hpp"
#include "wattle/power_monitor.hpp"

namespace wattle::power_test {
namespace {

constexpr std::int64_t kHourS = 3600;

double unix_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

PowerMonitor played_monitor() {
  Survey found;
  found.sensors.push_back(instant_gpu(0, always(100.0), machine_clock()));
  found.sensors.push_back(package(0, 50.0, machine_clock()));
  return PowerMonitorMaker::make(std::move(found), machine_clock(), {.update_period = 100ms},
                                 ReadBy::caller);
}

/// A GPU and a package that are read on the machine's clock, by hand.
class WallClock : public testing::Test {
 protected:
  WallClock() : monitor_(played_monitor()) {
    read();
    began_unix_s_ = unix_now();
  }
  /// The next test begins with a clock whose steps are all known.
  ~WallClock() override {
    set_clock_by(0);
    notice();
  }
  /// As the monitor does each second, where its threads read.
  static void notice() { (void)to_unix(TimePoint{}); }
  void set_clock_by(std::int64_t seconds) { fakes::set_wall_clock_off(seconds); }
  void read() { PowerMonitorMaker::read(monitor_); }
  [[nodiscard]] Flags gpu_flags(double start, double end) {
    return monitor_.energy(start, end).at(0).flags;
  }

  static double noticed_unix_s() {
    notice();
    return unix_now();
  }

  double opened_unix_s_ = noticed_unix_s();  ///< before any reading, after the last test's steps
  PowerMonitor monitor_;
  double began_unix_s_ = 0.0;  ///< after the first reading
};

TEST_F(WallClock, ThatIsSetForwardIsFlaggedInAWindowAcrossThat) {
  EXPECT_FALSE(gpu_flags(began_unix_s_, unix_now()).has(Flag::clock_stepped));
  set_clock_by(kHourS);
  read();
  EXPECT_TRUE(gpu_flags(began_unix_s_, unix_now()).has(Flag::clock_stepped));
  EXPECT_TRUE(monitor_.cpu_energy(began_unix_s_, unix_now())
                  .at(Domain::package(0))
                  .flags.has(Flag::clock_stepped));
}

TEST_F(WallClock, ThatIsSetBackIsFlaggedInAWindowAcrossThat) {
  notice();
  set_clock_by(-kHourS);
  notice();
  read();
  EXPECT_THROW((void)monitor_.energy(began_unix_s_, unix_now()), InvalidArgument)
      << "by the wall clock it ended an hour before it began";
  EXPECT_TRUE(gpu_flags(unix_now() - 60.0, unix_now()).has(Flag::clock_stepped));
}

TEST_F(WallClock, MeansNothingToAWindowAfterTheStep) {
  set_clock_by(kHourS);
  notice();
  const double start_s = unix_now();
  read();
  EXPECT_FALSE(gpu_flags(start_s, unix_now()).has(Flag::clock_stepped));
}

TEST_F(WallClock, MeansNothingToSteadyTimes) {
  const TimePoint start = machine_clock().now();
  set_clock_by(kHourS);
  read();
  const MeasuredEnergy energy = monitor_.energy(start, machine_clock().now()).at(0);
  EXPECT_FALSE(energy.flags.has(Flag::clock_stepped));
  ASSERT_TRUE(energy.energy);
  EXPECT_LT(energy.energy->si(), 1000.0) << "and not an hour's";
}

TEST_F(WallClock, FindsTheSamplesThatWereTakenBeforeItWasSet) {
  // Earlier than the hour that an earlier test's step jumped over: all of that hour is the instant
  // of the step, just after which the sample lies, at a time that is rounded down.
  const double since_s = opened_unix_s_ - 3.0 * kHourS;
  const double until_s = began_unix_s_ + 1.0;
  const auto before = monitor_.timeline(kInstant, 0, since_s, until_s);
  set_clock_by(kHourS);
  const auto after = monitor_.timeline(kInstant, 0, since_s, until_s);
  ASSERT_EQ(before.at(0).size(), 1U);
  EXPECT_EQ(after.at(0).size(), 1U);
}

}  // namespace
}  // namespace wattle::power_test
