// A daemon that starts again has what the one before it read.
#include "history/disk_history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "fakes/scripted_sensor.hpp"
#include "fakes/temp_folder.hpp"
#include "fakes/wall_clock.hpp"
#include "serve/log.hpp"
#include "virtual_loop.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A package that draws 50 W, and a GPU that draws 100 W and 200 W in turn, each for a second.
std::vector<std::shared_ptr<Sensor>> sensors_from(TimePoint begin, const TimeSource& clock) {
  std::vector<fakes::ScriptedCounter> counters;
  counters.push_back(fakes::constant_power(fakes::counter_channel(Domain::package(0)), Watts(50.0),
                                           begin, 1'000'000));
  std::vector<fakes::ScriptedCounter> gauges;
  gauges.push_back(
      {{.domain = Domain::nvidia_gpu(0), .metric = Metric::power_instant}, [begin](TimePoint now) {
         return fakes::Shown{.raw = (now - begin) / seconds(1) % 2 == 0 ? 100U : 200U};
       }});
  std::vector<std::shared_ptr<Sensor>> sensors;
  sensors.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(counters), clock));
  sensors.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(gauges), clock));
  return sensors;
}

/// False if `is_done` stays false for long.
template <class Condition>
bool eventually(Condition is_done) {
  const TimePoint deadline = std::chrono::steady_clock::now() + seconds(120);
  while (!is_done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

/// The thread of an earlier run that writes has the lock until all is written.
std::shared_ptr<const ChunkFolder> opened(const std::string& path) {
  std::shared_ptr<const ChunkFolder> folder;
  const auto opens = [&] {
    try {
      folder = std::make_shared<const ChunkFolder>(path);
    } catch (const Error& error) {
      const std::string_view why = error.what();
      if (why.find("another wattled uses it") == std::string_view::npos) throw;
    }
    return folder != nullptr;
  };
  EXPECT_TRUE(eventually(opens)) << path << " stays in use";
  return folder;
}

/// A run of a daemon.
class DaemonRun {
 public:
  DaemonRun(TimePoint begin, const std::string& folder)
      : loop(begin),
        clock(loop),
        history(sensors_from(begin, clock), loop, clock, seconds(600)),
        disk(std::in_place, history, loop, opened(folder),
             DiskHistoryOptions{.limits = {.age = seconds(600)}}) {}

  /// Waits until what earlier runs wrote is there.
  void wait_for_past() {
    ASSERT_TRUE(eventually([&] { return loop.run_posted() > 0; }));
  }
  /// Ends it in order.
  void end() { disk.reset(); }

  VirtualLoop loop;
  LoopClock clock;
  EnergyHistory history;
  std::optional<DiskHistory> disk;
};

class DiskHistoryTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return (root_.path() / "history").string(); }
  /// A run from `from` to `to` seconds; what it answers at its end for its first 8 s.
  std::vector<DomainFigure> run(int from, int to) {
    DaemonRun run(begin_ + seconds(from), path());
    run.wait_for_past();  // the thread that reads has the lock, too
    run.loop.advance(seconds(to - from));
    auto energies = run.history.energies(at(from + 1), at(from + 8));
    run.end();
    return energies;
  }
  [[nodiscard]] TimePoint at(double after) const {
    return begin_ + std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(after));
  }

  fakes::TempFolder root_;
  TimePoint begin_ = std::chrono::steady_clock::now();
};

TEST_F(DiskHistoryTest, HasTheEnergyOfTheRunBefore) {
  const auto before = run(0, 10);
  DaemonRun next(begin_ + seconds(15), path());
  next.wait_for_past();
  const auto after = next.history.energies(at(1), at(8));
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    ASSERT_TRUE(after[i].figure.energy) << after[i].domain;
    EXPECT_NEAR(after[i].figure.energy->si(), before[i].figure.energy.value().si(), 0.05);
    EXPECT_NEAR(after[i].figure.unknown.count(), 0.0, 1e-3);
    EXPECT_NEAR(after[i].figure.uncertainty.si(), before[i].figure.uncertainty.si(),
                0.1 * before[i].figure.uncertainty.si());
    EXPECT_EQ(after[i].figure.method, before[i].figure.method);
  }
}

TEST_F(DiskHistoryTest, TheTimeBetweenTwoRunsIsUnknown) {
  (void)run(0, 10);
  DaemonRun next(begin_ + seconds(30), path());
  next.wait_for_past();
  next.loop.advance(seconds(10));
  const auto package = next.history.energies(at(5), at(35)).front();
  ASSERT_EQ(package.domain, Domain::package(0));
  ASSERT_TRUE(package.figure.energy);
  EXPECT_NEAR(package.figure.energy->si(), 10 * 50.0, 0.5);
  EXPECT_NEAR(package.figure.unknown.count(), 20.0, 0.15);
  EXPECT_TRUE(package.figure.flags.has(Flag::gap));
  const auto between = next.history.energies(at(15), at(25)).front();
  EXPECT_FALSE(between.figure.energy);
  EXPECT_NEAR(between.figure.unknown.count(), 10.0, 1e-6);
}

TEST_F(DiskHistoryTest, HasThePowerOfTheRunBefore) {
  (void)run(0, 10);
  DaemonRun next(begin_ + seconds(20), path());
  next.wait_for_past();
  next.loop.advance(seconds(5));
  for (const milliseconds width : {milliseconds(500), milliseconds(1000)}) {
    const auto begin = from_unix(std::floor(to_unix(at(2))));
    const auto count = static_cast<std::size_t>(seconds(22) / width);
    const TimeColumns columns{.begin = begin, .width = width, .count = count, .steps = 1};
    for (const auto& power : next.history.powers(columns, Joules(0.0))) {
      for (std::size_t i = 0; i < count; ++i) {
        const Seconds from = columns.edge(i) - begin_;
        const Seconds to = columns.edge(i + 1) - begin_;
        const bool is_known = to.count() < 9.5 || from.count() > 20.2;
        const bool is_unknown = from.count() > 10.2 && to.count() < 19.8;
        const bool has_mean = power.columns[i].mean.has_value();
        EXPECT_TRUE(has_mean || !is_known) << power.domain << ' ' << i;
        EXPECT_FALSE(has_mean && is_unknown) << power.domain << ' ' << i;
        if (power.columns[i].mean && power.domain == Domain::package(0)) {
          EXPECT_NEAR(power.columns[i].mean->si(), 50.0, 0.5) << i;
        }
      }
    }
  }
}

TEST_F(DiskHistoryTest, ARunThatIsKilledLosesLessThanASecond) {
  std::optional<DaemonRun> killed(std::in_place, begin_, path());
  killed->loop.advance(milliseconds(10'499));
  // What a daemon leaves that is killed now: nothing of it runs on.
  const std::string left = (root_.path() / "left").string();
  const auto is_written = [&] {
    std::filesystem::remove_all(left);
    std::filesystem::copy(path(), left);
    PastHistory past({.begin = {}, .end = TimePoint::max()});
    const ChunkFolder folder(left);
    std::string bytes;
    for (const ChunkFile& file : folder.list()) {
      if (folder.read(file.name, bytes)) (void)past.add(bytes);
    }
    const auto* const eras = past.find(Domain::package(0), "");
    return eras != nullptr && eras->back().last >= stored_time(at(9.899));
  };
  // The thread that writes has all of it; it only has to come to it.
  ASSERT_TRUE(eventually(is_written));
  DaemonRun next(begin_ + seconds(20), left);
  next.wait_for_past();
  EXPECT_NEAR(next.history.energies(at(0), at(10.499)).front().figure.unknown.count(), 0.5, 0.15);
}

TEST_F(DiskHistoryTest, ManyRunsAddUp) {
  for (int i = 0; i < 20; ++i) (void)run(10 * i, 10 * i + 9);
  DaemonRun next(begin_ + seconds(200), path());
  next.wait_for_past();
  const auto package = next.history.energies(at(0), at(200)).front();
  ASSERT_TRUE(package.figure.energy);
  EXPECT_NEAR(package.figure.unknown.count(), 20.0, 20 * 0.11);
  EXPECT_NEAR(package.figure.energy->si(), (200.0 - package.figure.unknown.count()) * 50.0, 1.0);
}

TEST_F(DiskHistoryTest, StrangersSeeThePresentRunAlone) {
  (void)run(0, 10);
  DaemonRun next(begin_ + seconds(15), path());
  next.wait_for_past();
  next.loop.advance(seconds(5));
  const auto package = next.history.coarse_energies(at(1), at(8), Joules(1.0)).front();
  ASSERT_EQ(package.domain, Domain::package(0));
  EXPECT_FALSE(package.figure.energy);
  const TimeColumns columns{.begin = at(1), .width = seconds(1), .count = 7, .steps = 1};
  const auto powers = next.history.powers(columns, Joules(1.0));
  for (const ColumnPower& column : powers.front().columns) {
    EXPECT_FALSE(column.mean);
  }
}

TEST_F(DiskHistoryTest, AWallClockThatWasAheadAtTheStartCostsNoLaterTime) {
  constexpr std::int64_t kYear = 31'536'000;
  const auto set_clock_by = [](std::int64_t offset_s) {
    fakes::set_wall_clock_off(offset_s);
    (void)to_unix(TimePoint{});  // as the daemon does ten times a second
  };
  set_clock_by(kYear);
  {
    DaemonRun ahead(begin_, path());
    ahead.wait_for_past();
    ahead.loop.advance(seconds(10));
    set_clock_by(0);
    ahead.loop.advance(seconds(10));
    ahead.end();
  }
  DaemonRun next(begin_ + seconds(30), path());
  next.wait_for_past();
  for (const DomainFigure& found : next.history.energies(at(12), at(18))) {
    EXPECT_NEAR(found.figure.unknown.count(), 0.0, 1e-3) << found.domain;
    EXPECT_NEAR(found.figure.energy.value_or(Joules()).si(),
                found.domain == Domain::package(0) ? 6 * 50.0 : 6 * 150.0, 1.0)
        << found.domain;
  }
}

TEST_F(DiskHistoryTest, ManyDamagedFilesAreAFewLinesOfTheLog) {
  std::filesystem::create_directory(path());
  std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  for (std::uint32_t i = 0; i < 12; ++i) {
    const std::string name = chunk_name(stored_time(1.7e9 + i), 7, i);
    std::ofstream(std::filesystem::path(path()) / name) << "damage";
  }
  testing::internal::CaptureStderr();
  DaemonRun run(begin_, path());
  run.wait_for_past();
  run.end();
  end_log({});
  const std::string log = testing::internal::GetCapturedStderr();
  std::size_t named = 0;
  for (auto at = log.find("not a chunk"); at != std::string::npos;
       at = log.find("not a chunk", at + 1)) {
    ++named;
  }
  EXPECT_EQ(named, 5U) << log;
  EXPECT_THAT(log, testing::HasSubstr("7 more files have problems"));
}

TEST_F(DiskHistoryTest, WhatIsOlderThanTheHistoryIsNotServed) {
  (void)run(0, 10);
  DaemonRun next(begin_ + seconds(2000), path());
  next.wait_for_past();
  EXPECT_FALSE(next.history.energies(at(1), at(8)).front().figure.energy);
}

}  // namespace
}  // namespace wattle::daemon
