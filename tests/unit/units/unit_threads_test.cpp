// Units that are divided by the CPU time of their threads.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "energy/metered_machine.hpp"
#include "unit_book_fixture.hpp"
#include "units/thread_loads.hpp"
#include "units/work_units_maker.hpp"

namespace wattle::detail {
namespace {

class UnitThreadsTest : public UnitBookTest {
 protected:
  /// Both threads compute for a part of the time that passes.
  void pass(std::chrono::nanoseconds time, double first, double second) {
    const auto part = [&](double cores) {
      return std::chrono::nanoseconds(
          static_cast<std::int64_t>(static_cast<double>(time.count()) * cores));
    };
    threads_.compute(1, part(first));
    threads_.compute(2, part(second));
    clock_.advance(time);
  }
  [[nodiscard]] Seconds cpu_time_of(const Unit& unit) const {
    return book_->result(unit.started.id)->cpu_time.value_or(Seconds(-1));
  }
};

TEST_F(UnitThreadsTest, DividesByTheCpuTimeThatThreadsUsed) {
  book();
  const Unit a = begin_on(1, "a");
  const Unit b = begin_on(2, "b");
  pass(1s, 0.75, 0.25);
  reads(8.0);
  end(a);
  end(b);
  settle();
  EXPECT_NEAR(joules_of(a), 6.0, 1e-4);
  EXPECT_NEAR(joules_of(b), 2.0, 1e-4);
  EXPECT_NEAR(cpu_time_of(a).count(), 0.75, 1e-4);
  EXPECT_NEAR(cpu_time_of(b).count(), 0.25, 1e-4);
}

TEST_F(UnitThreadsTest, DividesEachTimeBetweenReadingsByWhatWasUsedInIt) {
  book();
  const Unit a = begin_on(1, "a");
  const Unit b = begin_on(2, "b");
  pass(1s, 1.0, 0.0);
  reads(30.0);
  pass(1s, 0.1, 0.3);
  reads(8.0);
  end(a);
  end(b);
  settle();
  EXPECT_NEAR(joules_of(a), 32.0, 1e-4);
  EXPECT_NEAR(joules_of(b), 6.0, 1e-4);
}

TEST_F(UnitThreadsTest, ClosesWhateverComes) {
  UnitBook& own =
      book({{.name = "package_0", .idle = UnitIdlePower{"package_0", Watts(3.0)}},
            {.name = "nvidia_gpu_0", .gpu = 1, .idle = UnitIdlePower{"nvidia_gpu_0", Watts(1.0)}}},
           {.idle = IdleShare::kept, .lag = 20ms});
  std::vector<Unit> units;
  for (int i = 0; i < 800; ++i) {
    const int noise = i * 7919 % 5000;
    clock_.advance(std::chrono::microseconds(1 + noise));
    for (std::int32_t thread = 1; thread <= 5; ++thread) {
      threads_.compute(thread, std::chrono::microseconds(noise * thread % 977));
    }
    const double weight = 1e-6 + i * i % 977;
    if (i % 3 == 0) units.push_back(begin("a", weight));
    if (i % 3 == 1) units.push_back(begin_on(1 + i % 5, "b", weight, i % 2 == 0 ? 1 : 0));
    if (i % 7 == 2) enter(units[static_cast<std::size_t>(i) % units.size()], "phase");
    if (i % 3 == 2 && units.size() > 12) {
      end(units.front());
      units.erase(units.begin());
    }
    if (i % 5 == 0) reads(0.01 * (i % 70), 0);
    if (i % 11 == 0) reads(0.5, 1);
  }
  for (const UnitBalance& balance : {own.shares(0).balance(), own.shares(1).balance()}) {
    EXPECT_GT(balance.running.si(), 0.0);
    EXPECT_NEAR(sum_of(balance), balance.measured.si(), 1e-9 * balance.measured.si());
  }
  for (const Unit& unit : units) end(unit);
  clock_.advance(1s);
  settle();
  settle();
  EXPECT_EQ(own.report().waiting, 0U);
  ASSERT_EQ(done_.size(), 534U);
  double done_j = 0.0;
  for (const UnitEnergy& unit : done_) done_j += unit.energy.energy->si();
  const UnitBalance cpu = own.shares(0).balance();
  const UnitBalance gpu = own.shares(1).balance();
  EXPECT_NEAR(sum_of(cpu), cpu.measured.si(), 1e-9 * cpu.measured.si());
  EXPECT_NEAR(done_j, (cpu.units + gpu.units).si(), 1e-9 * (cpu.measured + gpu.measured).si());
}

TEST_F(UnitThreadsTest, UnitsOnOneThreadDivideItsTimeByWeight) {
  book();
  const Unit a = begin_on(1, "a", 3.0);
  const Unit b = begin_on(1, "a", 1.0);
  const Unit c = begin_on(2, "b", 100.0);
  pass(1s, 0.8, 0.2);
  reads(10.0);
  end(a);
  end(b);
  end(c);
  settle();
  EXPECT_NEAR(joules_of(a), 6.0, 1e-4);
  EXPECT_NEAR(joules_of(b), 2.0, 1e-4);
  EXPECT_NEAR(joules_of(c), 2.0, 1e-4);
}

TEST_F(UnitThreadsTest, AUnitByWeightCountsAsAThreadThatComputes) {
  book();
  const Unit a = begin_on(1, "a");
  const Unit b = begin("b");
  pass(1s, 0.5, 0.0);
  reads(6.0);
  end(a);
  end(b);
  settle();
  EXPECT_NEAR(joules_of(a), 2.0, 1e-4);
  EXPECT_NEAR(joules_of(b), 4.0, 1e-4);
  EXPECT_LT(cpu_time_of(b).count(), 0.0) << "absent";
}

TEST_F(UnitThreadsTest, CountsNoTimeOfAThreadInWhichNoUnitRanOnIt) {
  book();
  const Unit all = begin_on(2, "all");
  pass(1s, 1.0, 0.5);
  const Unit a = begin_on(1, "a");
  pass(1s, 0.5, 0.5);
  reads(9.0);
  end(a);
  end(all);
  settle();
  EXPECT_NEAR(joules_of(a), 3.0, 1e-3) << "a third of the CPU time of units";
  EXPECT_NEAR(joules_of(all), 6.0, 1e-3);
}

TEST_F(UnitThreadsTest, UnitsThatAllWaitHaveNothingAndAreNotIdleTime) {
  UnitBook& own = book();
  const Unit a = begin_on(1, "a");
  for (int i = 0; i < 20; ++i) {
    clock_.advance(100ms);
    reads(1.0);
  }
  end(a);
  settle();
  EXPECT_EQ(joules_of(a), 0.0);
  EXPECT_EQ(own.shares(0).balance().without_units, Joules(20.0));
  EXPECT_FALSE(own.shares(0).idle());
}

TEST_F(UnitThreadsTest, IsUnknownWhereASensorShowedNothing) {
  UnitBook& own = book();
  const Unit a = begin_on(1, "a");
  pass(1s, 0.5, 0.0);
  reads(4.0);
  pass(1s, 0.0, 0.0);
  reads(std::nullopt);
  end(a);
  settle();
  EXPECT_NEAR(own.result(a.started.id)->energy.unknown.count(), 1.0, 1e-6);
}

TEST_F(UnitThreadsTest, DividesGpusByWeight) {
  book({{.name = "package_0"}, {.name = "nvidia_gpu_0", .gpu = 1}});
  const Unit a = begin_on(1, "a", 1.0, 1);
  const Unit b = begin_on(2, "b", 1.0, 1);
  pass(1s, 0.9, 0.1);
  reads(10.0, 0);
  reads(100.0, 1);
  end(a);
  end(b);
  settle();
  EXPECT_NEAR(joules_of(a), 59.0, 1e-3);
  EXPECT_NEAR(joules_of(b), 51.0, 1e-3);
}

TEST_F(UnitThreadsTest, AThreadThatEndedUsesNoMore) {
  book();
  const Unit a = begin_on(1, "a");
  const Unit b = begin_on(2, "b");
  pass(1s, 0.5, 0.5);
  reads(10.0);
  threads_.end(1);
  threads_.compute(2, 500ms);
  clock_.advance(1s);
  reads(10.0);
  end(a);
  end(b);
  settle();
  EXPECT_NEAR(joules_of(a), 5.0, 1e-4);
  EXPECT_NEAR(joules_of(b), 15.0, 1e-4);
}

TEST_F(UnitThreadsTest, AUnitThatNeverEndsIsInTheBalance) {
  UnitBook& own = book();
  (void)begin_on(1, "a");
  const Unit b = begin_on(2, "b");
  pass(1s, 0.75, 0.25);
  reads(8.0);
  pass(1s, 0.75, 0.25);
  reads(8.0);
  end(b);
  settle();
  const UnitBalance balance = own.shares(0).balance();
  EXPECT_NEAR(balance.running.si(), 12.0, 1e-3);
  EXPECT_NEAR(balance.units.si(), 4.0, 1e-3);
}

TEST_F(UnitThreadsTest, ShortUnitsAreInDoubtByNoMoreThanTheirPartOfTheInterval) {
  book();
  clock_.advance(100ms);
  reads(1.0);
  const Unit all = begin_on(2, "all");
  pass(40ms, 0.0, 1.0);
  const Unit a = begin_on(1, "a");
  pass(20ms, 1.0, 1.0);
  end(a);
  pass(40ms, 0.0, 1.0);
  reads(1.2);
  const UnitEnergy unit = *book_->result(a.started.id);
  EXPECT_NEAR(unit.energy.energy->si(), 0.2, 1e-3);
  EXPECT_TRUE(unit.energy.flags.has(Flag::short_window));
  EXPECT_GE(unit.energy.uncertainty, *unit.energy.energy);
  EXPECT_LE(unit.energy.uncertainty.si(), 1.2);
  (void)all;
}

TEST(ThreadSteps, GivesTheNumberOfAThreadAgain) {
  const fakes::PlayedThreads clock;
  ThreadSteps steps(&clock);
  UnitEventLog log;
  std::int32_t most = 0;
  for (std::int32_t i = 0; i < 1'000; ++i) {
    for (const auto kind : {UnitEvent::EventKind::begin, UnitEvent::EventKind::end}) {
      log.events.push_back({.at_ns = 2 * i, .weight = 1, .used_ns = 0, .thread = 100 + i});
      log.events.back().kind = kind;
      steps.note(log, log.events.size() - 1);
      most = std::max(most, log.events.back().thread);
    }
  }
  EXPECT_EQ(most, 1);
}

TEST(ThreadSteps, AddUpToNothingOnceAllUnitsHaveEnded) {
  fakes::PlayedThreads clock;
  ThreadSteps steps(&clock);
  UnitEventLog log;
  const auto note = [&](UnitEvent::EventKind kind, std::int64_t at_ns, std::int64_t used_ns) {
    log.events.push_back({.at_ns = at_ns, .weight = 1, .used_ns = used_ns, .thread = 7});
    log.events.back().kind = kind;
    steps.note(log, log.events.size() - 1);
  };
  using Kind = UnitEvent::EventKind;
  note(Kind::begin, 100, 10);
  note(Kind::begin, 100, 10);  // at the same time
  clock.compute(7, 60ns);
  steps.sample(log, 200);
  note(Kind::end, 300, 50);  // the clock went back
  note(Kind::end, 400, 160);
  const std::int64_t one = *weight_steps(1.0);
  std::vector<std::int64_t> loads;
  std::int64_t load = 0;
  for (const UnitEvent& event : log.events) loads.push_back(load += event.step);
  EXPECT_EQ(loads, (std::vector<std::int64_t>{0, one / 2, 0, one, 0}));
}

TEST(MachineThreads, KnowTheCpuTimeOfAThreadUntilItEnds) {
  const ThreadClock& clock = machine_threads();
  const ThreadTime here = clock.here();
  ASSERT_GT(here.thread, 0);
  EXPECT_GE(clock.used_ns(here.thread), here.used_ns);
  std::atomic<std::int32_t> number = 0;
  std::atomic<bool> may_end = false;
  std::thread other([&] {
    number = clock.here().thread;
    while (!may_end) continue;
  });
  while (number == 0) std::this_thread::yield();
  EXPECT_NE(number, here.thread);
  const std::int64_t before = clock.used_ns(number);
  EXPECT_GE(before, 0);
  while (clock.used_ns(number) <= before) std::this_thread::yield();
  may_end = true;
  other.join();
  // The kernel may show the thread a little longer than `join` waits.
  while (clock.used_ns(number) >= 0) std::this_thread::yield();
}

class UnitsByCpuTimeTest : public testing::Test {
 protected:
  static UnitOptions by_cpu_time() { return {.by = UnitRule::cpu_time}; }

  UnitsByCpuTimeTest() { machine_.draws(Domain::package(0), Watts(40.0)); }
  /// All threads that `cores` names compute for that part of the time.
  void pass(WorkUnits& units, std::array<double, 2> cores) {
    for (int i = 0; i < 100; ++i) {
      for (std::size_t thread = 0; thread < cores.size(); ++thread) {
        threads_.compute(static_cast<std::int32_t>(thread + 1),
                         std::chrono::microseconds(static_cast<int>(1e4 * cores.at(thread))));
      }
      machine_.wait(10ms);
      (void)units.update();
    }
  }
  WorkUnits units() {
    threads_.compute(1, 5s);
    threads_.compute(2, 1s);
    return WorkUnitsMaker::units(machine_.domains(), {.lag = 0ns}, machine_.clock(), threads_);
  }

  tests::MeteredMachine machine_;
  fakes::PlayedThreads threads_;
};

TEST_F(UnitsByCpuTimeTest, CountTheThreadThatStartsAUnitWhoeverEndsIt) {
  WorkUnits own = units();
  threads_.run(1);
  WorkUnit a = own.begin("a", by_cpu_time());
  threads_.run(2);
  WorkUnit b = own.begin("b", by_cpu_time());
  pass(own, {0.75, 0.25});
  a.end();
  threads_.run(1);
  b.end();
  machine_.wait(10ms);
  (void)own.update();
  EXPECT_NEAR(own.result(a.id())->energy.energy->si(), 30.0, 0.4);
  EXPECT_NEAR(own.result(b.id())->energy.energy->si(), 10.0, 0.4);
}

TEST_F(UnitsByCpuTimeTest, APhaseTakesTheThreadThatStartsIt) {
  WorkUnits own = units();
  threads_.run(1);
  WorkUnit a = own.begin("a", by_cpu_time());
  pass(own, {0.5, 1.0});
  threads_.run(2);
  a.phase("next");
  pass(own, {1.0, 0.25});
  a.end();
  machine_.wait(10ms);
  (void)own.update();
  EXPECT_NEAR(own.result(a.id())->cpu_time->count(), 0.75, 0.01);
}

TEST_F(UnitsByCpuTimeTest, HaveTheirWeightIfTheClockCannotBeRead) {
  WorkUnits own = units();
  threads_.run(0);
  WorkUnit a = own.begin("a", UnitOptions{.weight = 3.0, .by = UnitRule::cpu_time});
  WorkUnit b = own.begin("b");
  pass(own, {0.0, 0.0});
  a.phase("next", 3.0);
  pass(own, {0.0, 0.0});
  a.end();
  b.end();
  machine_.wait(10ms);
  (void)own.update();
  EXPECT_NEAR(own.result(a.id())->energy.energy->si(), 60.0, 0.6);
  EXPECT_FALSE(own.result(a.id())->cpu_time);
}

}  // namespace
}  // namespace wattle::detail
