#include "lab/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <vector>

namespace wattle::lab {
namespace {

Machine jittery_package() {
  return {.name = "package",
          .counter = CounterModel{.name = "package",
                                  .domain = Domain::package(0),
                                  .update = {.mean_s = 1e-3, .spread_s = 0.2e-3}}};
}

Machine unaveraged_gauge() {
  return {.name = "gauge",
          .gauge = GaugeModel{.name = "gauge", .update = {.mean_s = 0.1}, .window_s = 0.0}};
}

Load steady() { return {.name = "steady", .shape = Waveform::constant(100.0)}; }

TEST(World, ShowsTheSameUnderTheSameSeed) {
  World one(jittery_package(), steady(), 7);
  World same(jittery_package(), steady(), 7);
  World other(jittery_package(), steady(), 8);
  const std::uint64_t raw = one.read(World::counter_channel()).raw;
  EXPECT_EQ(same.read(World::counter_channel()).raw, raw);
  EXPECT_NE(other.read(World::counter_channel()).raw, raw);
}

TEST(World, LetsAReadTakeTimeAndStampsItsMiddle) {
  Machine machine = jittery_package();
  machine.reader = {.shortest_s = 10e-6, .mean_extra_s = 5e-6};
  World world(machine, steady(), 7);
  const TimePoint before = world.clock().at();
  const Reading reading = world.read(World::counter_channel());
  const TimePoint after = world.clock().at();
  EXPECT_GE(after - before, std::chrono::microseconds(10) - std::chrono::nanoseconds(1));
  EXPECT_EQ(reading.at - before, after - reading.at);
  EXPECT_EQ(reading.half_width, reading.at - before);
}

TEST(World, DropsSoManyReadsAsItsReaderDoes) {
  Machine machine = jittery_package();
  machine.reader.dropout = 0.1;
  World world(machine, steady(), 7);
  constexpr int kReads = 10'000;
  int failed = 0;
  for (int i = 0; i < kReads; ++i) {
    failed += world.read(World::counter_channel()).status == ReadStatus::ok ? 0 : 1;
  }
  EXPECT_NEAR(failed, 0.1 * kReads, 100.0);
}

TEST(World, WaitsButNeverBack) {
  World world(jittery_package(), steady(), 7);
  world.wait_until(2.0);
  EXPECT_DOUBLE_EQ(world.now_s(), 2.0);
  world.wait_until(1.0);
  EXPECT_DOUBLE_EQ(world.now_s(), 2.0);
}

/// How many values a gauge has shown of a power that rises all the time.
int values_shown(World& world, double length_s) {
  int values = 0;
  std::uint64_t last = 0;
  for (double time_s = 0.0; time_s < length_s; time_s += 0.01) {
    world.wait_until(time_s);
    const std::uint64_t raw = world.read(world.gauge_channel()).raw;
    values += raw != last ? 1 : 0;
    last = raw;
  }
  return values;
}

TEST(World, HasBoardsWhosePaceDiffers) {
  Machine machine = unaveraged_gauge();
  machine.gauge->update.between_boards = 0.1;
  const Load rising = {.name = "rising", .shape = Waveform::sine(200.0, 100.0, 10'000.0)};
  int fewest = 1'000;
  int most = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    World world(machine, rising, seed);
    const int values = values_shown(world, 20.0);
    fewest = std::min(fewest, values);
    most = std::max(most, values);
  }
  EXPECT_GE(fewest, 180) << "of 200, by a tenth";
  EXPECT_LT(fewest, 195);
  EXPECT_GT(most, 205);
  EXPECT_LE(most, 224);
}

TEST(World, IdlesUntilItIsGivenWork) {
  Load work = steady();
  work.outside = Waveform::constant(20.0);
  World world(unaveraged_gauge(), work, 7);
  world.wait_until(1.0);
  EXPECT_EQ(world.read(world.gauge_channel()).raw, 20'000U);
  world.work_between(2.0, 3.0);
  world.wait_until(2.5);
  EXPECT_EQ(world.read(world.gauge_channel()).raw, 100'000U);
  world.wait_until(3.5);
  EXPECT_EQ(world.read(world.gauge_channel()).raw, 20'000U);
  EXPECT_NEAR(world.energy_j(World::time_point(1.0), World::time_point(4.0)), 140.0, 1e-6);
}

TEST(World, CountsTheWorkThatItIsGivenBeforeItsTime) {
  Load work = steady();
  work.outside = Waveform::constant(20.0);
  World world(jittery_package(), work, 7);
  world.wait_until(-2.0);
  const Reading first = world.read(World::counter_channel());
  world.work_between(-1.0, 1.0);
  world.wait_until(2.0);
  const Reading last = world.read(World::counter_channel());
  const auto counted_j = static_cast<double>(last.raw - first.raw) * 0x1p-14;
  EXPECT_NEAR(counted_j, world.energy_j(first.at, last.at), 0.05);
}

TEST(World, HasCounterAndGaugeSideBySide) {
  Machine machine = unaveraged_gauge();
  machine.counter = jittery_package().counter;
  World world(machine, steady(), 7);
  std::vector<Reading> readings(2);
  world.sensor().read(readings);
  EXPECT_EQ(world.sensor().channels()[World::counter_channel()].metric, Metric::energy);
  EXPECT_EQ(world.sensor().channels()[world.gauge_channel()].metric, Metric::power_instant);
  EXPECT_EQ(readings[world.gauge_channel()].raw, 100'000U);
}

TEST(World, IsFollowedByALaneAtItsPeriod) {
  World world(jittery_package(), steady(), 7);
  std::vector<double> times_s;
  follow(world, World::counter_channel(), 0.0, 1.0, 0.01,
         [&](const Reading& reading) { times_s.push_back(World::seconds_of(reading.at)); });
  EXPECT_NEAR(static_cast<double>(times_s.size()), 100.0, 1.0);
  EXPECT_GE(times_s.front(), 0.0);
  EXPECT_LT(times_s.back(), 1.0 + 1e-3);
}

TEST(World, HasAJobThatTakesAPartOfItsWindow) {
  Load load{.name = "job", .shape = Waveform::constant(300.0)};
  load.outside = Waveform::constant(50.0);
  load.part = 0.6;
  std::set<double> begins_w;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    World world(jittery_package(), load, seed);
    world.work_between(0.0, 10.0);
    const auto energy_j = [&](double begin_s, double end_s) {
      return world.energy_j(World::time_point(begin_s), World::time_point(end_s));
    };
    EXPECT_NEAR(energy_j(0.0, 10.0), 6.0 * 300.0 + 4.0 * 50.0, 1e-3);
    EXPECT_NEAR(energy_j(-1.0, 0.0), 50.0, 1e-3);
    begins_w.insert(energy_j(0.0, 4.0));
  }
  EXPECT_GT(begins_w.size(), 15U) << "somewhere in it";
}

}  // namespace
}  // namespace wattle::lab
