// The rule, on a domain whose readings a test writes.
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "unit_book_fixture.hpp"
#include "units/domain_shares.hpp"
#include "units/unit_time.hpp"

namespace wattle::detail {
namespace {

TEST_F(UnitBookTest, DividesEquallyAmongThoseThatRun) {
  book();
  const Unit a = begin("a");
  clock_.advance(1s);
  reads(10.0);
  const Unit b = begin("b");
  clock_.advance(1s);
  reads(10.0);
  end(a);
  end(b);
  settle();
  EXPECT_NEAR(joules_of(a), 15.0, 1e-6);
  EXPECT_NEAR(joules_of(b), 5.0, 1e-6);
}

TEST_F(UnitBookTest, DividesByWeight) {
  book();
  const Unit a = begin("a", 3.0);
  const Unit b = begin("b", 1.0);
  clock_.advance(1s);
  reads(8.0);
  end(a);
  end(b);
  settle();
  EXPECT_NEAR(joules_of(a), 6.0, 1e-6);
  EXPECT_NEAR(joules_of(b), 2.0, 1e-6);
}

TEST_F(UnitBookTest, ClosesWhateverComes) {
  UnitBook& own = book({{.name = "package_0", .idle = UnitIdlePower{"package_0", Watts(3.0)}}},
                       {.idle = IdleShare::kept, .lag = 0ns});
  std::vector<Unit> units;
  for (int i = 0; i < 500; ++i) {
    clock_.advance(std::chrono::microseconds(1 + i * 7919 % 5000));
    if (i % 3 != 2) units.push_back(begin(i % 2 == 0 ? "a" : "b", 1e-6 + i * i % 977));
    if (i % 3 == 2 && units.size() > 3) {
      end(units.front());
      units.erase(units.begin());
    }
    if (i % 5 == 0) reads(0.01 * (i % 70));
  }
  settle();
  const UnitBalance balance = own.shares(0).balance();
  EXPECT_GT(balance.running.si(), 0.0);
  EXPECT_GT(balance.idle.si(), 0.0);
  EXPECT_NEAR(sum_of(balance), balance.measured.si(), 1e-9 * balance.measured.si());
  double units_j = 0.0;
  for (const UnitEnergy& unit : done_) units_j += unit.energy.energy->si();
  EXPECT_NEAR(units_j, balance.units.si(), 1e-9 * balance.measured.si());
}

TEST_F(UnitBookTest, GivesTimeWithoutUnitsToNobody) {
  UnitBook& own = book();
  clock_.advance(1s);
  reads(5.0);
  const Unit a = begin("a");
  clock_.advance(1s);
  reads(7.0);
  end(a);
  settle();
  EXPECT_NEAR(joules_of(a), 7.0, 1e-6);
  EXPECT_EQ(own.shares(0).balance().without_units, Joules(5.0));
}

/// A mean of all time without units can be far above what the machine draws now.
TEST_F(UnitBookTest, HasNoShareBelowZeroWhereIdlePowerFell) {
  UnitBook& own = book({{.name = "package_0", .idle = UnitIdlePower{"package_0", Watts(100.0)}}});
  clock_.advance(95ms);
  const Unit a = begin("a");
  clock_.advance(5ms);
  reads(7.0);
  end(a);
  settle();
  EXPECT_GE(joules_of(a), 0.0);
  const UnitBalance balance = own.shares(0).balance();
  EXPECT_NEAR(sum_of(balance), 7.0, 1e-9);
}

TEST_F(UnitBookTest, NamesOtherTagsLast) {
  UnitBook& own = book();
  std::vector<Unit> units;
  for (int i = 0; i < 12; ++i) units.push_back(begin("tag " + std::to_string(i)));
  clock_.advance(1s);
  reads(12.0);
  for (const Unit& unit : units) end(unit);
  settle();
  const UnitsReport report = own.report();
  ASSERT_EQ(report.tags.size(), 9U);
  EXPECT_EQ(report.tags.front().tag, "tag 0");
  EXPECT_EQ(report.tags.back().tag, "other");
  EXPECT_EQ(report.tags.back().count, 4U);
}

TEST_F(UnitBookTest, KeepsIdlePowerForNobodyIfAsked) {
  UnitBook& own = book({{.name = "package_0", .idle = UnitIdlePower{"package_0", Watts(4.0)}}},
                       {.idle = IdleShare::kept, .lag = 0ns});
  const Unit a = begin("a");
  clock_.advance(1s);
  reads(7.0);
  end(a);
  settle();
  EXPECT_NEAR(joules_of(a), 3.0, 1e-2);
  EXPECT_NEAR(own.shares(0).balance().idle.si(), 4.0, 1e-2);
}

TEST_F(UnitBookTest, KnowsNoShareAboveAnIdlePowerThatIsNotKnown) {
  book({{.name = "package_0"}}, {.idle = IdleShare::kept, .lag = 0ns});
  const Unit a = begin("a");
  clock_.advance(1s);
  reads(7.0);
  end(a);
  settle();
  EXPECT_FALSE(book_->result(a.started.id)->energy.energy);
  EXPECT_GT(book_->result(a.started.id)->energy.unknown, Seconds(0));
}

TEST_F(UnitBookTest, LearnsIdlePowerBeforeTheFirstUnit) {
  UnitBook& own = book({{.name = "package_0"}}, {.idle = IdleShare::kept, .lag = 0ns});
  for (int i = 0; i < 10; ++i) {
    clock_.advance(100ms);
    reads(0.4);
  }
  EXPECT_NEAR(own.shares(0).idle()->power.si(), 4.0, 1e-9);
  const Unit a = begin("a");
  clock_.advance(1s);
  reads(7.0);
  end(a);
  settle();
  EXPECT_NEAR(joules_of(a), 3.0, 1e-2);
}

TEST_F(UnitBookTest, NoticesThatIdlePowerHasChanged) {
  UnitBook& own = book();
  const auto idles = [&](double watts) {
    for (int i = 0; i < 20; ++i) {
      clock_.advance(100ms);
      reads(0.1 * watts);
    }
  };
  idles(4.0);
  end(begin("a"));
  idles(4.0);
  EXPECT_FALSE(own.shares(0).has_idle_changed());
  for (int i = 0; i < 10; ++i) idles(6.0);
  EXPECT_TRUE(own.shares(0).has_idle_changed());
}

TEST_F(UnitBookTest, KeepsTheLastResultsOfManyThreads) {
  constexpr std::size_t kKept = 64;
  UnitBook& own = book({{.name = "package_0"}}, {.kept_results = kKept});
  std::vector<Unit> units;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 40; ++i) {
      std::thread([&] { units.push_back(begin("a")); }).join();
      clock_.advance(1ms);
      end(units.back());
    }
    clock_.advance(1s);
    reads(1.0);
    settle();
  }
  for (std::size_t i = 0; i < units.size(); ++i) {
    const bool is_kept = i + kKept >= units.size();
    EXPECT_EQ(own.state(units[i].started.id), is_kept ? UnitState::done : UnitState::forgotten)
        << i;
  }
}

TEST_F(UnitBookTest, WaitsForReadingsThatCoverAUnit) {
  UnitBook& own = book({{.name = "package_0"}, {.name = "nvidia_gpu_0", .gpu = 1}});
  const Unit a = begin("a");
  EXPECT_EQ(own.state(a.started.id), UnitState::forgotten) << "nothing was settled";
  clock_.advance(1s);
  reads(1.0, 0);
  EXPECT_EQ(own.state(a.started.id), UnitState::running);
  end(a);
  clock_.advance(1s);
  reads(1.0, 0);
  EXPECT_EQ(own.state(a.started.id), UnitState::waiting);
  EXPECT_FALSE(own.result(a.started.id));
  EXPECT_TRUE(done_.empty());
  reads(50.0, 1);
  EXPECT_EQ(own.state(a.started.id), UnitState::done);
  ASSERT_EQ(done_.size(), 1U);
  EXPECT_NEAR(done_.front().energy.energy->si(), 51.0, 1e-6)
      << "nobody else ran in the 2 s of the second sensor";
}

TEST_F(UnitBookTest, LeavesGpusToTheUnitsThatUseThem) {
  book({{.name = "package_0"},
        {.name = "nvidia_gpu_0", .gpu = 1},
        {.name = "nvidia_gpu_1", .gpu = 2}});
  const Unit a = begin("a", 1.0, 1);
  const Unit b = begin("b", 1.0, 2);
  clock_.advance(1s);
  reads(10.0, 0);
  reads(100.0, 1);
  reads(200.0, 2);
  end(a);
  end(b);
  settle();
  EXPECT_NEAR(joules_of(a), 105.0, 1e-4);
  EXPECT_NEAR(joules_of(b), 205.0, 1e-4);
}

TEST_F(UnitBookTest, IsUnknownWhereASensorShowedNothing) {
  UnitBook& own = book();
  const Unit all = begin("a");
  const Unit half = begin("a");
  clock_.advance(1s);
  reads(4.0);
  const Unit none = begin("a");
  clock_.advance(1s);
  reads(std::nullopt);
  end(all);
  end(half);
  end(none);
  settle();
  EXPECT_NEAR(joules_of(half), 2.0, 1e-6) << "a lower bound";
  EXPECT_NEAR(own.result(half.started.id)->energy.unknown.count(), 1.0, 1e-6);
  EXPECT_FALSE(own.result(none.started.id)->energy.energy) << "not 0";
  const UnitsReport report = own.report();
  EXPECT_EQ(report.tags.front().unknown, 3U);
  EXPECT_FALSE(report.tags.front().mean);
}

TEST_F(UnitBookTest, TakesAGapBetweenReadingsForUnknown) {
  UnitBook& own = book();
  const Unit a = begin("a");
  clock_.advance(1s);
  reads(4.0);
  clock_.advance(1s);
  last_[0] = clock_.at();
  clock_.advance(1s);
  reads(4.0);
  end(a);
  settle();
  EXPECT_NEAR(own.result(a.started.id)->energy.unknown.count(), 1.0, 1e-6);
}

TEST_F(UnitBookTest, SaysThatAUnitWasShorterThanAnUpdate) {
  UnitBook& own = book();
  clock_.advance(100ms);
  reads(1.0);
  clock_.advance(10ms);
  const Unit a = begin("a");
  clock_.advance(20ms);
  end(a);
  clock_.advance(70ms);
  reads(1.0);
  const UnitEnergy unit = *own.result(a.started.id);
  EXPECT_TRUE(unit.energy.flags.has(Flag::short_window));
  EXPECT_GE(unit.energy.uncertainty, *unit.energy.energy) << "all of it is in doubt";
}

TEST_F(UnitBookTest, ForgetsResultsBeyondItsLimit) {
  UnitBook& own = book({{.name = "package_0"}}, {.lag = 0ns, .kept_results = 4});
  std::vector<UnitId> ids;
  for (int i = 0; i < 100; ++i) {
    const Unit a = begin("a");
    ids.push_back(a.started.id);
    clock_.advance(10ms);
    end(a);
    settle();
  }
  EXPECT_EQ(own.state(ids.back()), UnitState::done);
  EXPECT_LE(std::ranges::count_if(ids, [&](UnitId id) { return own.state(id) == UnitState::done; }),
            4);
  EXPECT_EQ(own.report().tags.front().count, 100U);
}

TEST_F(UnitBookTest, WithoutADomainKnowsNoEnergy) {
  UnitBook& own = book({});
  const Unit a = begin("a");
  clock_.advance(1s);
  end(a);
  clock_.advance(1s);
  own.settle();
  EXPECT_EQ(own.state(a.started.id), UnitState::done);
  EXPECT_FALSE(own.result(a.started.id)->energy.energy);
}

TEST_F(UnitBookTest, AddsUpWork) {
  UnitBook& own = book();
  for (int i = 0; i < 60; ++i) {
    const Unit a = begin("a");
    clock_.advance(1s);
    reads(8.0);
    end(a, 4.0);
    settle();
  }
  const UnitTag tag = own.report().tags.front();
  EXPECT_EQ(tag.work, 240.0);
  ASSERT_TRUE(tag.per_work);
  EXPECT_NEAR(tag.per_work->value.si(), 2.0, 0.02);
}

TEST_F(UnitBookTest, KnowsTheMeanOfEqualUnitsWell) {
  UnitBook& own = book();
  for (int i = 0; i < 200; ++i) {
    const Unit a = begin("a");
    clock_.advance(1s);
    reads(8.0);
    end(a);
    settle();
  }
  const auto mean = own.report().tags.front().mean;
  ASSERT_TRUE(mean);
  EXPECT_NEAR(mean->value.si(), 8.0, 0.01);
  // All of a mean is in doubt where the energy of all units is unknown: this one's is not.
  EXPECT_GT(mean->low.si(), 7.5);
  EXPECT_LT(mean->high.si(), 8.5);
}

TEST(DomainShares, JoinsReadingsOfWhichOneHasWhatTheOtherLacks) {
  const TimePoint begin{10s};
  const auto measured_j2 = [&](double common_j) {
    DomainShares shares({.name = "package_0"}, IdleShare::to_units);
    const auto add = [&](TimePoint from, TimePoint to, double common) {
      shares.add(
          {.begin = from,
           .end = to,
           .energy = {
               .energy = Joules(10.0), .uncertainty = Joules(4.0), .common = Joules(common)}});
    };
    const UnitEvent starts{.at_ns = ns_of(begin + 1500ms), .weight = 1 << 20};
    const UnitEventLog log{.events = {starts}};
    add(begin, begin + 1s, 0.0);
    shares.divide(log, ns_of(begin + 1s), [](const auto&...) {});
    // The second reading ends before what is divided already, and joins the third.
    shares.set_lag(200'000'000);
    add(begin + 1s, begin + 1100ms, common_j);
    add(begin + 1100ms, begin + 2s, -common_j);
    shares.divide(log, ns_of(begin + 2s), [](const auto&...) {});
    return shares.doubt().measured_j2;
  };
  EXPECT_DOUBLE_EQ(measured_j2(0.0), 32.0);
  EXPECT_DOUBLE_EQ(measured_j2(4.0), 0.0);
}

}  // namespace
}  // namespace wattle::detail
