#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "energy/metered_machine.hpp"
#include "fakes/gated_sensor.hpp"
#include "wattle/energy_meter.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using tests::kTickJ;
using tests::MeteredMachine;

/// A wall meter that a test sets.
class WallMeter final : public EnergySource {
 public:
  explicit WallMeter(std::vector<Counter> counters = {{.name = "wall"}})
      : counters_(std::move(counters)), raw(counters_.size(), 0) {}
  [[nodiscard]] std::vector<Counter> counters() const override { return counters_; }
  void read(std::span<std::optional<std::uint64_t>> values) noexcept override {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = raw[i];
  }

 private:
  std::vector<Counter> counters_;

 public:
  std::vector<std::optional<std::uint64_t>> raw;
};

TEST(EnergyReaderTest, CountsFromWhenItWasMade) {
  MeteredMachine machine;
  machine.draws(Domain::package(0), Watts(100.0), 12345);
  machine.wait(1s);
  EnergyReader reader = machine.reader();
  machine.wait(2s);
  EXPECT_NEAR(reader.read()[0].energy.energy->si(), 200.0, kTickJ);
  machine.wait(2s);
  EXPECT_NEAR(reader.read()[0].energy.energy->si(), 400.0, kTickJ);
}

TEST(EnergyReaderTest, GivesEachDomainItsOwnTime) {
  MeteredMachine machine;
  machine.draws(Domain::package(0), Watts(100.0)).draws(Domain::dram(0), Watts(100.0));
  machine.clock().advance_at_each_look(2us);
  EnergyReader reader = machine.reader();
  const std::vector<EnergyReading> readings = reader.read();
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_EQ(readings[0].domain, "package_0");
  EXPECT_EQ(readings[1].domain, "dram_0");
  EXPECT_EQ(readings[1].at - readings[0].at, 2us);
}

TEST(EnergyReaderTest, GoesOnThroughAWrap) {
  MeteredMachine machine;
  machine.draws(Domain::package(0), Watts(100.0), (std::uint64_t{1} << 32U) - 10);
  EnergyReader reader = machine.reader();
  machine.wait(1s);
  const EnergyReading reading = reader.read()[0];
  EXPECT_NEAR(reading.energy.energy->si(), 100.0, kTickJ);
  EXPECT_TRUE(reading.energy.flags.has(Flag::wrapped));
}

TEST(EnergySourceTest, IsMeasuredBesideTheDomains) {
  MeteredMachine machine;
  const auto wall = std::make_shared<WallMeter>();
  machine.draws(Domain::package(0), Watts(100.0)).has(wall);
  EnergyMeter meter = machine.meter();
  meter.start("x");
  machine.wait(1s);
  wall->raw[0] = 150'000'000;
  meter.stop();
  const EnergyTrace trace = meter.trace();
  EXPECT_EQ(*trace["x"].domains(), (std::vector<std::string>{"package_0", "wall"}));
  EXPECT_DOUBLE_EQ(trace["x"].energy("wall").energy->si(), 150.0) << "ticks of a micro-joule";
}

TEST(EnergySourceTest, IsFollowedThroughItsEnd) {
  MeteredMachine machine;
  const auto wall = std::make_shared<WallMeter>(
      std::vector<EnergySource::Counter>{{.name = "wall", .tick = Joules(1.0), .modulus = 1000}});
  machine.has(wall);
  EnergyMeter meter = machine.meter();
  wall->raw[0] = 900;
  meter.start("x");
  machine.wait(1s);
  wall->raw[0] = 100;
  meter.stop();
  EXPECT_EQ(meter.trace()["x"].energy("wall").energy, Joules(200.0));
}

TEST(EnergySourceTest, IsUnknownWhereItFalls) {
  MeteredMachine machine;
  const auto wall = std::make_shared<WallMeter>();
  machine.has(wall);
  EnergyMeter meter = machine.meter();
  wall->raw[0] = 900;
  meter.start("x");
  machine.wait(1s);
  wall->raw[0] = 100;
  meter.stop();
  const MeasuredEnergy energy = meter.trace()["x"].energy("wall");
  EXPECT_EQ(energy.energy, std::nullopt);
  EXPECT_TRUE(energy.flags.has(Flag::reset));
}

TEST(EnergySourceTest, IsUnknownWhereItCannotBeRead) {
  MeteredMachine machine;
  const auto wall = std::make_shared<WallMeter>();
  machine.has(wall);
  EnergyMeter meter = machine.meter();
  meter.start("x");
  machine.wait(1s);
  wall->raw[0] = std::nullopt;
  meter.stop();
  EXPECT_EQ(meter.trace()["x"].energy("wall").energy, std::nullopt);
}

TEST(EnergySourceTest, IsUnknownWhereItShowsWhatItCannot) {
  MeteredMachine machine;
  const auto wall = std::make_shared<WallMeter>(
      std::vector<EnergySource::Counter>{{.name = "wall", .modulus = 1000}});
  machine.has(wall);
  EnergyMeter meter = machine.meter();
  meter.start("x");
  machine.wait(1s);
  wall->raw[0] = 1000;
  meter.stop();
  EXPECT_EQ(meter.trace()["x"].energy("wall").energy, std::nullopt);
}

using Counters = std::vector<EnergySource::Counter>;

class UnusableSource : public testing::TestWithParam<Counters> {};

TEST_P(UnusableSource, IsRefused) {
  MeteredMachine machine;
  machine.draws(Domain::package(0), Watts(1.0)).has(std::make_shared<WallMeter>(GetParam()));
  EXPECT_THROW((void)machine.domains(), InvalidArgument);
}

Counters many_counters(std::size_t count) {
  Counters counters;
  for (std::size_t i = 0; i < count; ++i) counters.push_back({.name = "c" + std::to_string(i)});
  return counters;
}

TEST(EnergySourceTest, HasAtMost64Counters) {
  MeteredMachine machine;
  machine.has(std::make_shared<WallMeter>(many_counters(64)));
  EXPECT_EQ(machine.domains()->names()->size(), 64U);
}

INSTANTIATE_TEST_SUITE_P(Counters, UnusableSource,
                         testing::Values(Counters{{.name = ""}}, Counters{{.name = "package_0"}},
                                         Counters{{.name = "package_7"}}, many_counters(65),
                                         Counters{{.name = "a"}, {.name = "a"}},
                                         Counters{{.name = "a", .tick = Joules(0.0)}},
                                         Counters{{.name = "a", .tick = Joules(-1.0)}},
                                         Counters{{.name = "a", .max_power = Watts(0.0)}},
                                         Counters{{.name = "a", .update_interval = -1ns}}));

TEST(EnergySourceTest, CannotBeNull) {
  MeteredMachine machine;
  machine.has(nullptr);
  EXPECT_THROW((void)machine.domains(), InvalidArgument);
}

/// A device that shows what a test says, ten times a second.
class PowerMeter final : public EnergySource {
 public:
  explicit PowerMeter(std::optional<Watts> shown) : shown_(shown) {}
  [[nodiscard]] std::vector<Gauge> gauges() const override { return {{.name = "wall"}}; }
  void read_power(std::span<std::optional<Watts>> power) noexcept override {
    power[0] = shown_;
    ++reads;
  }
  std::atomic<int> reads{0};

 private:
  std::optional<Watts> shown_;
};

/// A section in which `source` was read three times.
EnergyTrace measured_with(const std::shared_ptr<PowerMeter>& source) {
  EnergyMeter meter = detail::EnergyMeterMaker::meter(std::make_shared<detail::MeteredDomains>(
      detail::MeterParts{.sensors = {}, .domains = {}, .sources = {source}}, machine_clock()));
  meter.start("x");
  const int reads = source->reads;
  EXPECT_TRUE(fakes::eventually([&] { return source->reads >= reads + 3; }));
  meter.stop();
  return meter.trace();
}

TEST(PowerSourceTest, IsIntegrated) {
  const EnergyTrace trace = measured_with(std::make_shared<PowerMeter>(Watts(42.0)));
  const MeasuredEnergy& energy = trace["x"].energy("wall");
  ASSERT_TRUE(energy.energy);
  const double known_s = trace["x"].duration().count() - energy.unknown.count();
  EXPECT_NEAR(energy.energy->si(), 42.0 * known_s, energy.uncertainty.si() + 0.001);
}

TEST(PowerSourceTest, IsUnknownWhereItShowsNoPower) {
  for (const std::optional<Watts> wrong :
       {std::optional<Watts>(), std::optional(Watts(-1.0)), std::optional(Watts(std::nan(""))),
        std::optional(Watts(1e300))}) {
    EXPECT_EQ(measured_with(std::make_shared<PowerMeter>(wrong))["x"].energy("wall").energy,
              std::nullopt);
  }
}

TEST(EnergyReaderTest, RefusesToBeUsedOnceItWasMoved) {
  MeteredMachine machine;
  machine.draws(Domain::package(0), Watts(100.0));
  EnergyReader reader = machine.reader();
  EnergyReader other = std::move(reader);
  machine.wait(1s);
  EXPECT_NEAR(other.read()[0].energy.energy->si(), 100.0, kTickJ);
  // NOLINTBEGIN(bugprone-use-after-move): this is what is tested
  EXPECT_TRUE(reader.domains()->empty());
  EXPECT_TRUE(reader.missing().empty());
  EXPECT_THROW((void)reader.read(), InvalidArgument);
  // NOLINTEND(bugprone-use-after-move)
}

}  // namespace
}  // namespace wattle
