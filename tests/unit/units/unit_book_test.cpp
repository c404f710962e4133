// The rule, on a domain whose readings a test writes.
#include "units/unit_book.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "fakes/virtual_clock.hpp"

namespace wattle::detail {
namespace {

using namespace std::chrono_literals;

/// Numbers without a pattern.
std::size_t hash_of(std::size_t step, std::size_t gpu) {
  std::uint64_t bits = (step * 2 + gpu + 1) * 0x9E3779B97F4A7C15U;
  bits ^= bits >> 29U;
  return static_cast<std::size_t>((bits * 0xBF58476D1CE4E5B9U) >> 33U);
}

class UnitBookTest : public testing::Test {
 protected:
  struct Unit {
    UnitEvents::Started started;
    std::int64_t weight = 0;
    std::uint16_t tag = 0;
    std::uint16_t column = 0;  ///< of the phase that it is in
    std::uint8_t gpu = 0;
    std::int64_t last_ns = 0;
  };

  UnitBook& book(std::vector<DividedDomain> domains = {{.name = "package_0"}},
                 UnitBookOptions options = {.lag = 0ns}) {
    last_.assign(domains.size(), clock_.at());
    book_.emplace(events_, tags_, std::move(domains), options);
    return *book_;
  }
  Unit begin(const std::string& tag, double weight = 1.0, std::uint8_t gpu = 0) {
    Unit unit{.weight = *weight_steps(weight), .tag = tags_.column(tag), .gpu = gpu};
    unit.column = unit.tag;
    unit.started = *events_.begin(unit.column, unit.weight, gpu);
    unit.last_ns = unit.started.at_ns;
    return unit;
  }
  void end(const Unit& unit, double work = 0.0) {
    (void)events_.leave({.weight = unit.weight,
                         .work = work,
                         .slot = slot_of(unit.started.id),
                         .column = unit.column,
                         .gpu = unit.gpu,
                         .kind = UnitEvent::Kind::end},
                        unit.last_ns);
  }
  void enter(Unit& unit, const std::string& phase) {
    const std::uint16_t column = tags_.column(phase, unit.tag);
    const UnitEvent enters{.weight = unit.weight,
                           .slot = slot_of(unit.started.id),
                           .column = column,
                           .gpu = unit.gpu,
                           .kind = UnitEvent::Kind::enter};
    unit.last_ns = events_.leave({.weight = unit.weight,
                                  .slot = slot_of(unit.started.id),
                                  .column = unit.column,
                                  .gpu = unit.gpu,
                                  .kind = UnitEvent::Kind::leave},
                                 unit.last_ns, &enters);
    unit.column = column;
  }
  /// The domain spent so much since its last reading; absent: unknown.
  void reads(std::optional<double> joules, std::size_t domain = 0) {
    const TimePoint now = clock_.at();
    UnitReading reading{.begin = last_[domain], .end = now};
    if (joules) reading.energy.energy = Joules(*joules);
    if (!joules) reading.energy.unknown = Seconds(now - last_[domain]);
    last_[domain] = now;
    book_->add(domain, reading);
    book_->settle([this](const UnitEnergy& unit) { done_.push_back(unit); });
  }
  /// A millisecond later, so that all events are from before.
  void settle() {
    clock_.advance(1ms);
    for (std::size_t i = 0; i < last_.size(); ++i) reads(0.0, i);
  }
  [[nodiscard]] double joules_of(const Unit& unit) const {
    return book_->result(unit.started.id)->energy.energy->si();
  }
  [[nodiscard]] static double sum_of(const UnitBalance& balance) {
    return (balance.units + balance.running + balance.idle + balance.without_units).si();
  }

  fakes::VirtualClock clock_;
  UnitEvents events_{clock_};
  UnitTags tags_{8};
  std::optional<UnitBook> book_;
  std::vector<TimePoint> last_;
  std::vector<UnitEnergy> done_;
};

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

TEST_F(UnitBookTest, ReportsPhasesAfterTheirTag) {
  UnitBook& own = book();
  Unit a = begin("request");
  clock_.advance(1s);
  reads(9.0);
  enter(a, "decode");
  clock_.advance(2s);
  reads(4.0);
  end(a);
  settle();
  const UnitsReport report = own.report();
  ASSERT_EQ(report.tags.size(), 2U);
  EXPECT_NEAR(report.tags[0].sum.si(), 13.0, 1e-6);
  EXPECT_EQ(report.tags[1].tag, "request");
  EXPECT_EQ(report.tags[1].phase, "decode");
  EXPECT_EQ(report.tags[1].count, 1U);
  EXPECT_NEAR(report.tags[1].sum.si(), 4.0, 1e-6);
  EXPECT_NEAR(report.tags[1].mean_time.count(), 2.0, 1e-3);
}

TEST_F(UnitBookTest, KnowsNoEnergyOfAUnitWhosePhasesAreAllUnknown) {
  UnitBook& own = book({{.name = "package_0"}}, {.idle = IdleShare::kept, .lag = 0ns});
  Unit a = begin("request");
  enter(a, "prefill");
  clock_.advance(1s);
  reads(7.0);
  enter(a, "decode");
  clock_.advance(1s);
  reads(7.0);
  end(a);
  settle();
  EXPECT_FALSE(own.result(a.started.id)->energy.energy) << "not 0";
  for (const UnitTag& row : own.report().tags) {
    EXPECT_EQ(row.count, 0U) << row.phase;
    EXPECT_FALSE(row.mean) << row.phase;
  }
  EXPECT_EQ(own.report().tags.at(1).unknown, 1U) << "the phase too";
}

TEST_F(UnitBookTest, IsNotShortBecauseItsLastPhaseIs) {
  UnitBook& own = book();
  Unit a = begin("request");
  clock_.advance(5s);
  reads(50.0);
  clock_.advance(10ms);
  enter(a, "last");
  clock_.advance(10ms);
  end(a);
  clock_.advance(80ms);
  reads(1.0);
  EXPECT_FALSE(own.result(a.started.id)->energy.flags.has(Flag::short_window));
}

TEST_F(UnitBookTest, LearnsNoIdlePowerFromTheTailOfUnits) {
  UnitBook& own = book({{.name = "package_0"}}, {.idle = IdleShare::kept, .lag = 0ns});
  const Unit a = begin("a");
  clock_.advance(1s);
  reads(7.0);
  end(a);
  for (int i = 0; i < 13; ++i) {
    clock_.advance(100ms);
    reads(i < 3 ? 3.0 : 0.4);  // a late sensor shows the unit
  }
  ASSERT_TRUE(own.shares(0).idle());
  EXPECT_NEAR(own.shares(0).idle()->power.si(), 4.0, 1e-6);
}

TEST_F(UnitBookTest, FindsTheCostOfUnitsThatEachHaveAGpu) {
  UnitBook& own = book({{.name = "nvidia_gpu_0", .gpu = 1}, {.name = "nvidia_gpu_1", .gpu = 2}});
  constexpr std::array<double, 2> kWatts = {10.0, 20.0};
  std::array<std::vector<Unit>, 2> running;
  for (std::size_t step = 0; step < 900; ++step) {
    for (const std::size_t gpu : {std::size_t{0}, std::size_t{1}}) {
      const std::size_t wanted = hash_of(step / 3, gpu) % 5;
      while (running.at(gpu).size() > wanted) {
        end(running.at(gpu).back());
        running.at(gpu).pop_back();
      }
      while (running.at(gpu).size() < wanted) {
        running.at(gpu).push_back(
            begin(gpu == 0 ? "a" : "b", 1.0, static_cast<std::uint8_t>(gpu + 1)));
      }
    }
    clock_.advance(100ms);
    for (const std::size_t gpu : {std::size_t{0}, std::size_t{1}}) {
      const auto units = static_cast<double>(running.at(gpu).size());
      reads(0.1 * (50.0 + kWatts.at(gpu) * units), gpu);
    }
  }
  for (const std::vector<Unit>& rest : running) {
    for (const Unit& unit : rest) end(unit);
  }
  settle();
  const UnitsReport report = own.report();
  ASSERT_EQ(report.tags.size(), 2U);
  for (const UnitTag& tag : report.tags) {
    EXPECT_EQ(tag.doubt, "");
    ASSERT_TRUE(tag.fitted);
    EXPECT_NEAR(tag.fitted->value.si(), kWatts.at(tag.tag == "a" ? 0 : 1) * tag.mean_time.count(),
                0.05 * tag.fitted->value.si());
  }
  ASSERT_EQ(report.contrasts.size(), 1U);
  const UnitContrast& contrast = report.contrasts.front();
  EXPECT_NEAR(*contrast.ratio, contrast.first == "a" ? 0.5 : 2.0, 0.02);
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
  EXPECT_EQ(own.figures(1).count(), 100U);
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

}  // namespace
}  // namespace wattle::detail
