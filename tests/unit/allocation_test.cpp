// What reads while a command runs allocates nothing. A program of its own: it counts every
// allocation of the process.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "counted_allocations.hpp"
#include "energy/metered_machine.hpp"
#include "fakes/drm_tree.hpp"
#include "fakes/gated_sensor.hpp"
#include "fakes/one_window.hpp"
#include "fakes/powercap_tree.hpp"
#include "fakes/process_files.hpp"
#include "fakes/virtual_clock.hpp"
#include "power/played_machine.hpp"
#include "sampling/readings.hpp"
#include "sampling/timeline/timeline.hpp"
#include "sampling/update_observer.hpp"
#include "sanitized.hpp"
#include "sensors/drm/drm.hpp"
#include "sensors/providers.hpp"
#include "units/work_units_maker.hpp"
#include "usage/machine.hpp"
#include "usage/tree/tree_reader.hpp"
#include "wattle/energy_meter.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;

class Allocations : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "the sanitizer's own allocator is in the way of counting";
  }

  Allocations() {
    tree_.add_zone("intel-rapl:0", "package-0");
    tree_.add_zone("intel-rapl:0:0", "core");
    tree_.add_zone("intel-rapl:0:1", "dram");
    tree_.add_zone("intel-rapl:1", "package-1");
    tree_.add_zone("intel-rapl:2", "psys");
  }

  fakes::PowercapTree tree_;
  fakes::VirtualClock clock_;
};

TEST_F(Allocations, AreCounted) {
  EXPECT_EQ(allocations_of([] { const auto number = std::make_unique<volatile int>(1); }), 1U);
  EXPECT_GE(allocations_of([] {
              std::vector<int> numbers;
              for (int i = 0; i < 1000; ++i) numbers.push_back(i);
              EXPECT_EQ(numbers.back(), 999);
            }),
            10U);
  void* volatile memory = nullptr;
  EXPECT_EQ(allocations_of([&] { memory = std::malloc(1); }), 1U);
  std::free(memory);
}

TEST_F(Allocations, AreNoneWhereASensorReads) {
  const Survey found = survey(tree_.system(), clock_);
  ASSERT_EQ(found.sensors.size(), 3U);
  std::array<Reading, 3> readings;
  const std::uint64_t made = allocations_of([&] {
    for (const auto& sensor : found.sensors) {
      sensor->read(std::span(readings).first(sensor->channels().size()));
    }
  });
  EXPECT_EQ(made, 0U);
  EXPECT_EQ(readings[0].status, ReadStatus::ok);
}

TEST_F(Allocations, AreNoneWhereAReadFails) {
  const Survey found = survey(tree_.system(), clock_);
  for (const char* content : {"", "garbage\n", "99999999999999999999\n"}) {
    tree_.write_file("intel-rapl:0", "energy_uj", content);
    std::array<Reading, 3> readings;
    EXPECT_EQ(allocations_of([&] { found.sensors[0]->read(readings); }), 0U);
    EXPECT_EQ(readings[0].status, ReadStatus::retry);
  }
}

TEST_F(Allocations, AreNoneWhereAGpuReads) {
  fakes::DrmTree tree;
  tree.add_rx6800(0, "0000:03:00.0");
  const Survey found = drm::probe(tree.system(), clock_, {});
  std::vector<Reading> readings(found.sensors.at(0)->channels().size());
  EXPECT_EQ(allocations_of([&] { found.sensors[0]->read(readings); }), 0U);
  EXPECT_EQ(readings[0].status, ReadStatus::ok);
  tree.write(0, "power/runtime_status", "suspended\n");
  EXPECT_EQ(allocations_of([&] { found.sensors[0]->read(readings); }), 0U);
  EXPECT_EQ(readings[0].status, ReadStatus::retry);
}

TEST_F(Allocations, AreNoneWhereATimelineIsWrittenAndRead) {
  Timeline timeline({.kind = TimelineKind::gauge, .hold = 1ms, .memory_limit = kMinTimelineBytes});
  const std::uint64_t made = allocations_of([&] {
    for (unsigned i = 0; i < 10'000; ++i) timeline.append(TimePoint(i * 1ms), i * i);
    (void)timeline.at(TimePoint(9999ms));
    (void)timeline.gauge_window(TimePoint(0ms), TimePoint(10s));
    timeline.for_each(TimePoint(0ms), TimePoint(10s), [](const StoredReading&) {});
  });
  EXPECT_EQ(made, 0U);
  EXPECT_GT(timeline.dropped(), 0U);
}

TEST_F(Allocations, AreNoneWhereTheRecorderReads) {
  fakes::OneWindow recorder(std::move(survey(tree_.system(), clock_).sensors), clock_);
  recorder.read(false);
  const std::uint64_t made = allocations_of([&] {
    for (int i = 0; i < 100; ++i) {
      clock_.advance(100ms);
      recorder.read(true);
      (void)recorder.interval_power();
    }
  });
  EXPECT_EQ(made, 0U);
}

TEST_F(Allocations, AreNoneWhereAMeterRecordsATagItKnows) {
  EnergyMeter meter({.system = tree_.system()});
  constexpr std::size_t kRecords = 1000;
  meter.reserve(kRecords + 2);
  meter.start("even, and longer than a string holds without help");
  meter.record("odd");
  const std::uint64_t made = allocations_of([&] {
    for (std::size_t i = 1; i < kRecords; ++i) {
      meter.record(i % 2 == 0 ? "odd" : "even, and longer than a string holds without help");
    }
    meter.stop();
  });
  EXPECT_EQ(made, 0U);
  EXPECT_EQ(meter.trace().size(), kRecords + 1);
}

TEST_F(Allocations, AreNoneWhereUnitsOfWorkStartAndEnd) {
  tests::MeteredMachine machine;
  machine.draws(Domain::package(0), Watts(10.0));
  WorkUnits units = detail::WorkUnitsMaker::units(machine.domains(), {}, machine.clock());
  const auto work = [&] {
    for (int i = 0; i < 1000; ++i) {
      WorkUnit unit = units.begin("a tag that is longer than a string holds without help");
      unit.phase("prefill");
      unit.add(1.0);
      unit.end();
    }
  };
  for (int round = 0; round < 4; ++round) {
    work();
    machine.wait(100ms);
    (void)units.update();
  }
  EXPECT_EQ(allocations_of(work), 0U);
  machine.wait(100ms);
  EXPECT_TRUE(units.update());
  EXPECT_EQ(units.report().tags.front().count, 5000U);
}

TEST_F(Allocations, AreNoneWhereUpdatesAreWatched) {
  const Survey found = survey(tree_.system(), clock_);
  UpdateObserver observer(found.sensors[0]->channels()[0]);
  const std::uint64_t made = allocations_of([&] {
    for (unsigned i = 0; i < 10'000; ++i) {
      observer.add({.at = TimePoint(i * 1ms), .raw = i / 2, .status = ReadStatus::ok});
    }
  });
  EXPECT_EQ(made, 0U);
  EXPECT_EQ(observer.observation().changes, 4999U);
}

TEST_F(Allocations, AreNoneWhereALaneReads) {
  const auto gate = std::make_shared<fakes::Gate>();
  const std::vector<Channel> channels = {
      {.domain = Domain::nvidia_gpu(0), .counter = {.tick = Joules(1.0), .max_power = Watts(1e6)}},
      {.domain = Domain::nvidia_gpu(0), .metric = Metric::power_instant}};
  std::vector<std::unique_ptr<Sensor>> sensors;
  sensors.push_back(std::make_unique<fakes::GatedSensor>(channels, gate, machine_clock()));
  const Readings readings(std::move(sensors), machine_clock(), {.period = 1ms});
  ASSERT_TRUE(fakes::eventually([&] { return readings.lane_ticks() >= 5; }));
  const std::uint64_t made = allocations_of([&] {
    const std::uint64_t ticks = readings.lane_ticks();
    EXPECT_TRUE(fakes::eventually([&] { return readings.lane_ticks() >= ticks + 300; }));
  });
  EXPECT_EQ(made, 0U) << "in whatever thread";
}

// Weakness 18 of the original: it copies and goes through all samples at each question.
TEST_F(Allocations, OfAQuestionOfPowerAreAsFewHoweverLongItsWindow) {
  using power_test::kBegin;
  power_test::PlayedMachine machine;
  machine.add_gpu(0, [](std::chrono::nanoseconds now) {
    return power_test::watts(static_cast<double>(100 + now / 100ms % 7));
  });
  PowerMonitor monitor = machine.monitor();
  machine.play(monitor, 20'000s);  // 200,000 samples
  const auto of_energy = [&](std::chrono::nanoseconds length) {
    return allocations_of([&] { (void)monitor.energy(kBegin + 1s, kBegin + 1s + length); });
  };
  const auto of_power = [&](std::chrono::nanoseconds at) {
    return allocations_of([&] { (void)monitor.power_at(kBegin + at); });
  };
  (void)of_energy(1s);
  EXPECT_EQ(of_energy(19'000s), of_energy(1s));
  EXPECT_LE(of_energy(19'000s), 5U);
  EXPECT_EQ(of_power(19'000s), of_power(2s));
}

TEST_F(Allocations, AreNoneWhereAProcessTreeIsLookedAt) {
  const fakes::ProcessFiles files;
  files.put({.pid = 100, .children = {101}});
  files.put({.pid = 101, .parent = 100});
  // Some files stay open, some are opened each time.
  TreeReader tree(files.system(), clock_, 100, {.most_kept_files = 3});
  const std::uint64_t made = allocations_of([&] {
    for (int i = 0; i < 10; ++i) {
      clock_.advance(500ms);
      (void)tree.read();
    }
  });
  EXPECT_EQ(made, 0U);
  EXPECT_EQ(tree.state().descendants.processes, 1U) << "it has read something";
}

TEST_F(Allocations, AreNoneWhereTheMachineIsSampled) {
  MachineMonitor monitor{System{}};
  monitor.sample(clock_.now());
  const std::uint64_t made = allocations_of([&] {
    for (int i = 0; i < 10; ++i) {
      clock_.advance(1s);
      monitor.sample(clock_.now());
    }
  });
  EXPECT_EQ(made, 0U);
  EXPECT_TRUE(monitor.usage().processors) << "it has read something";
}

}  // namespace
}  // namespace wattle
