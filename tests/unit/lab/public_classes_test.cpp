// The power monitor and the summary of a run monitor's files, over a load of the gauge's own
// period: the gauge sees its highest power alone, or its lowest, and the counter beside it all of
// it.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "fakes/temp_folder.hpp"
#include "hardware/recording.hpp"
#include "lab/cells.hpp"
#include "lab/world.hpp"
#include "power/monitor_parts.hpp"

namespace wattle::lab {
namespace {

/// The load at the gauge's own period, of a board whose counter does not add up what the gauge
/// shows.
Cell aliased_beside_a_counter() {
  for (const Cell& cell : all_cells(std::nullopt)) {
    if (cell.mode == "both" && cell.load.name == "square at the gauge's period" &&
        !cell.machine.counter_is_fed) {
      return cell;
    }
  }
  throw std::out_of_range("the lab has no such cell");
}

/// All channels of a world's sensor. The world outlives it.
class BorrowedSensor final : public Sensor {
 public:
  explicit BorrowedSensor(World& world) : world_(world) {}
  [[nodiscard]] std::span<const Channel> channels() const noexcept override {
    return world_.sensor().channels();
  }
  void read(std::span<Reading> readings) noexcept override { read_some(~ChannelSet(), readings); }
  void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept override {
    for (std::size_t i = 0; i < readings.size(); ++i) {
      if (wanted[i]) readings[i] = world_.read(i);
    }
  }

 private:
  World& world_;
};

std::vector<std::unique_ptr<Sensor>> sensors_of(World& world) {
  std::vector<std::unique_ptr<Sensor>> sensors;
  sensors.push_back(std::make_unique<BorrowedSensor>(world));
  return sensors;
}

constexpr std::uint64_t kTrials = 100;
constexpr int kLeastHeld = 95;

TEST(PublicClassesInTheLab, ThePowerMonitorsUncertaintyHoldsAtTheGaugesOwnPeriod) {
  const Cell cell = aliased_beside_a_counter();
  int held = 0;
  for (std::uint64_t seed = 0; seed < kTrials; ++seed) {
    World world(cell.machine, cell.load, seed);
    Survey found{.sensors = sensors_of(world), .refused = {}};
    PowerMonitor monitor =
        PowerMonitorMaker::make(std::move(found), world.clock(),
                                {.update_period = std::chrono::milliseconds(100)}, ReadBy::hand);
    world.wait_until(0.0);
    for (int i = 0; i <= 110; ++i) {
      world.wait_until(i * 0.1);
      PowerMonitorMaker::read(monitor);
    }
    const TimePoint begin = World::time_point(0.25);
    const TimePoint end = World::time_point(10.25);
    const BestEnergy energy = monitor.energy(begin, end).begin()->second;
    ASSERT_TRUE(energy.energy);
    EXPECT_EQ(energy.method, Method::counter);
    ASSERT_EQ(energy.alternatives.size(), 1U);
    const double error_j = std::abs(energy.energy->si() - world.energy_j(begin, end));
    held += error_j <= energy.uncertainty.si() ? 1 : 0;
  }
  EXPECT_GE(held, kLeastHeld);
}

TEST(PublicClassesInTheLab, TheSummarysUncertaintyHoldsAtTheGaugesOwnPeriod) {
  const Cell cell = aliased_beside_a_counter();
  const fakes::TempFolder folder;
  System nowhere;
  nowhere.procfs = folder.path() / "proc";
  nowhere.sysfs = folder.path() / "sys";
  int held = 0;
  for (std::uint64_t seed = 0; seed < kTrials; ++seed) {
    World world(cell.machine, cell.load, seed);
    Recording recording(Survey{.sensors = sensors_of(world), .refused = {}}, nowhere, world.clock(), folder.path(),
                        {.interval = Seconds(2.0), .overwrite = true});
    world.wait_until(0.0);
    const TimePoint begin = world.clock().at();
    recording.begin();
    for (int row = 1; row < 5; ++row) {
      world.wait_until(row * 2.0);
      recording.tick(false);
    }
    world.wait_until(10.0);
    const TimePoint end = world.clock().at();
    recording.tick(true);
    const ResourceSummary summary = build_resource_summary(recording.files());
    ASSERT_TRUE(summary.energy && summary.energy_uncertainty);
    EXPECT_EQ(summary.energy_method, Method::counter);
    const double error_j = std::abs(summary.energy->si() - world.energy_j(begin, end));
    held += error_j <= summary.energy_uncertainty->si() ? 1 : 0;
  }
  EXPECT_GE(held, kLeastHeld);
}

}  // namespace
}  // namespace wattle::lab
