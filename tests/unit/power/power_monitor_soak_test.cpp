// What a monitor keeps of long times, and the memory that it takes.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <utility>

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

/// `mean` W with noise of `spread` W, renewed every 100 ms.
Script noisy(double mean, double spread, std::uint32_t seed) {
  return [=, random = std::mt19937(seed), noise = std::normal_distribution<double>(),
          update = std::int64_t{-1}, shown = fakes::Shown{}](auto now) mutable {
    if (std::exchange(update, now / 100ms) != now / 100ms) {
      shown = watts(mean + spread * noise(random));
    }
    return shown;
  };
}

// The common machine: what docs/benchmarks.md says it takes.
TEST(PowerMonitorSoak, KeepsAnHourOfEightGpusIn4MiB) {
  PlayedMachine machine;
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
    machine.add_gpu(gpu, {{PowerDomain::device_instant, noisy(300, 3, 3 * gpu + 1)},
                          {PowerDomain::device_average, noisy(300, 1, 3 * gpu + 2)},
                          {PowerDomain::memory_average, noisy(40, 0.5, 3 * gpu + 3)}});
  }
  PowerMonitor monitor = machine.monitor({.update_period = 50ms});
  machine.play(monitor, 1h);
  EXPECT_EQ(monitor.energy(kBegin, kBegin + 1h).at(7).unknown, Seconds(0));
  EXPECT_LT(monitor.memory_bytes(), std::size_t{4} << 20U);
}

}  // namespace
}  // namespace wattle::power_test
