// A day at 1 kHz, each value another: what a monitor keeps of it within its memory.
#include <gtest/gtest.h>

#include "played_machine.hpp"
#include "wattle/power_monitor.hpp"

namespace wattle::power_test {
namespace {

TEST(PowerMonitorSoak, KeepsADayOfReadingsEachMillisecond) {
  PlayedMachine machine;
  std::uint64_t number = 0;
  machine.add_gpu(0, [&](auto) { return fakes::Shown{.raw = 100'000 + number++ % 4001}; });
  PowerMonitor monitor = machine.monitor({.update_period = 1ms});
  machine.play(monitor, 24h);
  EXPECT_LE(monitor.memory_bytes(), PowerMonitorOptions().memory_limit);
  const MeasuredEnergy day = monitor.energy(kBegin, kBegin + 24h).at(0);
  EXPECT_EQ(day.unknown, Seconds(0));
  constexpr double kPartOfARound = 4.0;  // the last round of values is not over
  EXPECT_NEAR(day.energy->si(), 24 * 3600 * 102.0, kPartOfARound);
}

}  // namespace
}  // namespace wattle::power_test
