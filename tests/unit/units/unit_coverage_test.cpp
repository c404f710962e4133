// How often the ± of units of work holds the truth, in simulated worlds: fixed seeds, few of them
// here. UNIT_WORLDS: how many (label full: 200).
#include <gtest/gtest.h>
#include <malloc.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "fakes/virtual_clock.hpp"
#include "lab/unit_world.hpp"
#include "sanitized.hpp"
#include "units/unit_book.hpp"

namespace wattle::lab {
namespace {

int worlds() {
  const char* const count = std::getenv("UNIT_WORLDS");  // NOLINT(concurrency-mt-unsafe)
  return count == nullptr ? 12 : std::atoi(count);
}

/// A part of all worlds, less what chance can do to it (3 standard deviations).
double least(double part) {
  return part - 3.0 * std::sqrt(part * (1.0 - part) / static_cast<double>(worlds()));
}
double most(double part) {
  return part + 3.0 * std::sqrt(part * (1.0 - part) / static_cast<double>(worlds()));
}

/// The part of all worlds in which `is_so(outcome)`; the mean where that is a number.
template <class IsSo>
double part_of(const UnitWorld& world, IsSo is_so) {
  double count = 0.0;
  for (int i = 0; i < worlds(); ++i) {
    const UnitOutcome outcome = simulate(world, 4'900 + static_cast<std::uint64_t>(i));
    EXPECT_LE(outcome.closure, 1e-9) << world.name;
    count += static_cast<double>(is_so(outcome));
  }
  const double part = count / static_cast<double>(worlds());
  if (worlds() >= 100) {
    std::printf("%s, update %g s, late by %g s: %.1f %%\n", world.name.c_str(), world.update_s,
                world.lag_s, 100.0 * part);
  }
  return part;
}

bool holds(const std::optional<EnergyInterval>& range, const UnitTruth& truth) {
  const double mean = truth.joules / static_cast<double>(truth.count);
  return range && range->low.si() <= mean && mean <= range->high.si();
}
bool mean_holds(const UnitOutcome& outcome) {
  return holds(outcome.report.tags.front().mean, outcome.truth.front());
}
/// For which part of the tags.
double regression_holds(const UnitOutcome& outcome) {
  double count = 0.0;
  for (std::size_t i = 0; i < outcome.truth.size(); ++i) {
    if (holds(outcome.report.tags[i].fitted, outcome.truth[i])) count += 1.0;
  }
  return count / static_cast<double>(outcome.truth.size());
}
const UnitDomain& gpu(const UnitOutcome& outcome) { return outcome.report.domains.front(); }

/// One tag, units that overlap.
UnitWorld overlapping(double update_s, double lag_s) {
  return {.name = "overlapping", .update_s = update_s, .lag_s = lag_s};
}
/// About one unit at a time.
UnitWorld in_turn(double update_s, double lag_s, double updates) {
  UnitWorld world{.name = "in turn", .update_s = update_s, .lag_s = lag_s};
  world.loads.front() = {
      .watts = 50.0, .running = 0.7, .mean_s = updates * update_s, .is_in_turn = true};
  return world;
}
UnitWorld two_tags(double ratio) {
  UnitWorld world{.name = "two tags"};
  world.loads = {{.tag = "prefill", .watts = 4.0}, {.tag = "decode", .watts = 4.0 / ratio}};
  return world;
}

TEST(UnitCoverage, OfAMeanIsEnoughWhereUnitsOverlap) {
  for (const double update_s : {0.001, 0.01, 0.1}) {
    for (const double lag_s : {0.0, 0.1, 0.2}) {
      EXPECT_GE(part_of(overlapping(update_s, lag_s), mean_holds), least(0.95))
          << update_s << " s, late by " << lag_s << " s";
    }
  }
}

TEST(UnitCoverage, OfAMeanIsEnoughWhereOneUnitLastsTenUpdates) {
  for (const double update_s : {0.01, 0.1}) {
    for (const double lag_s : {0.0, 0.2}) {
      EXPECT_GE(part_of(in_turn(update_s, lag_s, 12.0), mean_holds), least(0.95))
          << update_s << " s, late by " << lag_s << " s";
    }
  }
}

TEST(UnitCoverage, OfShortUnitsIsEnoughAndTheySaySo) {
  for (const double lag_s : {0.0, 0.2}) {
    EXPECT_GE(part_of(in_turn(0.1, lag_s, 1.0), mean_holds), least(0.95)) << lag_s;
    EXPECT_EQ(part_of(in_turn(0.1, lag_s, 1.0),
                      [](const UnitOutcome& o) { return o.report.tags.front().is_short; }),
              1.0);
  }
}

TEST(UnitCoverage, OfTheRegressionIsEnoughForTwoTags) {
  for (const double update_s : {0.01, 0.1}) {
    for (const double lag_s : {0.0, 0.1, 0.2}) {
      UnitWorld world = two_tags(2.0);
      world.update_s = update_s;
      world.lag_s = lag_s;
      EXPECT_GE(part_of(world, regression_holds), least(0.93))
          << update_s << " s, late by " << lag_s << " s";
    }
  }
}

TEST(UnitCoverage, DifferentCostsAreFoundAndEqualOnesAreNot) {
  const auto differ = [](const UnitOutcome& o) { return !o.report.contrasts.empty(); };
  EXPECT_GE(part_of(two_tags(1.2), differ), least(0.95));
  EXPECT_LE(part_of(two_tags(1.0), differ), most(0.05));
}

/// Units of two tags, whose threads compute for a tenth and for most of the time.
UnitWorld by_cpu_time(double update_s, double lag_s) {
  UnitWorld world{.name = "by CPU time", .update_s = update_s, .lag_s = lag_s};
  world.loads = {{.tag = "wait", .watts = 8.0, .cores = 0.1},
                 {.tag = "compute", .watts = 8.0, .cores = 0.8}};
  return world;
}
/// For which part of the tags.
double means_hold(const UnitOutcome& outcome) {
  double count = 0.0;
  for (std::size_t i = 0; i < outcome.truth.size(); ++i) {
    if (holds(outcome.report.tags[i].mean, outcome.truth[i])) count += 1.0;
  }
  return count / static_cast<double>(outcome.truth.size());
}

TEST(UnitCoverage, OfMeansIsEnoughWherePowerFollowsTheCpuTimeOfThreads) {
  for (const double update_s : {0.001, 0.01, 0.1}) {
    for (const double lag_s : {0.0, 0.2}) {
      EXPECT_GE(part_of(by_cpu_time(update_s, lag_s), means_hold), least(0.95))
          << update_s << " s, late by " << lag_s << " s";
    }
  }
  EXPECT_GE(part_of(by_cpu_time(0.01, 0.0), regression_holds), least(0.93));
}

TEST(UnitCoverage, OfMeansIsNotEnoughIfSuchUnitsAreDividedEqually) {
  UnitWorld world = by_cpu_time(0.01, 0.0);
  for (UnitLoad& load : world.loads) {
    load.watts *= load.cores;
    load.cores = 0.0;
  }
  EXPECT_EQ(part_of(world, means_hold), 0.0);
}

TEST(UnitCoverage, TagsThatRunTogetherAreNotSeparated) {
  UnitWorld world = two_tags(2.0);
  world.swings_together = true;
  for (UnitLoad& load : world.loads) load.running = 128.0;
  EXPECT_EQ(part_of(world,
                    [](const UnitOutcome& o) {
                      const UnitTag& tag = o.report.tags.front();
                      return !tag.fitted && tag.doubt == "cannot be separated from decode" &&
                             o.report.contrasts.empty();
                    }),
            1.0);
}

TEST(UnitCoverage, ACurveIsFoundWhereThereIsOne) {
  const auto is_curved = [](const UnitOutcome& o) { return gpu(o).is_curved; };
  UnitWorld world = overlapping(0.1, 0.0);
  EXPECT_LE(part_of(world, is_curved), most(0.05));
  EXPECT_LE(part_of(two_tags(2.0), is_curved), most(0.05));
  world.loads.front().watts = 4.0;
  world.limit_w = 60.0;
  EXPECT_GE(part_of(world, is_curved), least(0.95));
  EXPECT_EQ(part_of(world,
                    [&](const UnitOutcome& o) {
                      return is_curved(o) == !o.report.tags.front().fitted.has_value();
                    }),
            1.0);
  EXPECT_EQ(part_of(world, [](const UnitOutcome& o) { return *gpu(o).slope < *gpu(o).share; }),
            1.0);
  // With 8 running, each has 4 W / (1 + 32 / 60), and one more adds that over the same again.
  constexpr double kShare = 4.0 / (1.0 + 32.0 / 60.0);
  constexpr double kSlope = kShare / (1.0 + 32.0 / 60.0);
  const auto is_near = [](Watts found, double truth) {
    return std::abs(found.si() - truth) <= 0.25 * truth;
  };
  EXPECT_GE(part_of(world,
                    [&](const UnitOutcome& o) {
                      return is_near(*gpu(o).share, kShare) && is_near(*gpu(o).slope, kSlope);
                    }),
            least(0.9));
}

TEST(UnitCoverage, PowerThatNoUnitExplainsIsFound) {
  const auto is_found = [](const UnitOutcome& o) {
    const auto& found = gpu(o).unexplained;
    return found && found->low.si() <= o.unexplained_w && o.unexplained_w <= found->high.si();
  };
  EXPECT_GE(part_of(two_tags(2.0), is_found), least(0.93));
  UnitWorld world = two_tags(2.0);
  world.other_w = 30.0;
  EXPECT_GE(part_of(world, is_found), least(0.93));
  EXPECT_EQ(part_of(world, [](const UnitOutcome& o) { return gpu(o).unexplained->low.si() > 0.0; }),
            1.0);
  world.other_w = 0.0;
  world.idle_drift_w = 15.0;
  EXPECT_GE(part_of(world, is_found), least(0.93));
  EXPECT_GE(part_of(world, regression_holds), least(0.93));
}

TEST(UnitCoverage, ALateSensorIsFound) {
  EXPECT_GE(part_of(two_tags(2.0), [](const UnitOutcome& o) { return gpu(o).lag.count() == 0.0; }),
            least(0.95));
  UnitWorld world = two_tags(2.0);
  world.lag_s = 0.1;
  EXPECT_GE(
      part_of(world,
              [](const UnitOutcome& o) { return std::abs(gpu(o).lag.count() - 0.1) < 0.041; }),
      least(0.95));
}

TEST(UnitCoverage, ASensorThatIsLostLeavesUnitsUnknown) {
  UnitWorld world = overlapping(0.01, 0.0);
  world.lost_from_s = 50.0;
  EXPECT_EQ(part_of(world,
                    [](const UnitOutcome& o) {
                      const UnitTag& tag = o.report.tags.front();
                      return tag.unknown > 0 && tag.count > 0 &&
                             tag.count + tag.unknown == o.units &&
                             gpu(o).balance.unknown > Seconds(50);
                    }),
            1.0);
}

TEST(UnitCoverage, ManyUnitsCloseInBoundedMemory) {
  UnitWorld world = overlapping(0.01, 0.05);
  world.loads.front() = {.watts = 0.3, .running = 256.0, .mean_s = 0.256};
  const UnitOutcome outcome = simulate(world, 1);
  EXPECT_GT(outcome.units, 90'000U);
  EXPECT_LE(outcome.closure, 1e-9);
  EXPECT_EQ(outcome.report.running + outcome.report.waiting, 0U);
  EXPECT_LT(outcome.pending, 1'000U);
  const UnitBalance& balance = gpu(outcome).balance;
  EXPECT_NEAR(outcome.unit_sum_j, balance.units.si(), 1e-9 * balance.measured.si());
}

/// One unit after the other, on a counter of 50 W.
class EndlessUnits {
 public:
  void run(std::uint64_t count) {
    constexpr std::uint64_t kPerReading = 1'000;
    const std::uint16_t tag = tags_.column("request");
    const std::int64_t weight = *detail::weight_steps(1.0);
    for (std::uint64_t i = 1; i <= count; ++i) {
      clock_.advance(kHalf);
      const detail::UnitEvents::Started started = *events_.begin(tag, weight, 0);
      clock_.advance(kHalf);
      (void)events_.leave({.weight = weight,
                           .slot = detail::slot_of(started.id),
                           .column = tag,
                           .kind = detail::UnitEvent::EventKind::end},
                          started.at_ns);
      if (i % kPerReading == 0) read();
    }
    read();
  }
  [[nodiscard]] UnitsReport report() const { return book_.report(); }

 private:
  static constexpr std::chrono::microseconds kHalf{10};

  void read() {
    clock_.advance(kHalf);
    const TimePoint now = clock_.at();
    detail::UnitReading reading{.begin = last_, .end = now};
    reading.energy.energy = Joules(50.0 * Seconds(now - last_).count());
    last_ = now;
    book_.add(0, reading);
    clock_.advance(kHalf);
    book_.settle();
  }

  fakes::VirtualClock clock_;
  detail::UnitEvents events_{clock_};
  detail::UnitTags tags_{8};
  detail::UnitBook book_{
      events_, tags_, {{.name = "package_0"}}, {.lag = std::chrono::nanoseconds(0)}};
  TimePoint last_ = clock_.at();
};

TEST(UnitCoverage, MemoryDoesNotGrowWithTheNumberOfUnits) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer counts its own memory";
  // 10^7 where all worlds are asked for.
  const std::uint64_t more = worlds() >= 100 ? 9'900'000U : 900'000U;
  constexpr std::uint64_t kFirst = 100'000;
  // Tables of bounded size fill up; a unit that left anything would take more.
  constexpr std::size_t kMostMore = 4U << 20U;
  EndlessUnits units;
  units.run(kFirst);
  const std::size_t before = ::mallinfo2().uordblks;
  units.run(more);
  EXPECT_LT(::mallinfo2().uordblks, before + kMostMore);
  const UnitsReport report = units.report();
  EXPECT_EQ(report.tags.front().count, kFirst + more);
  EXPECT_EQ(report.running + report.waiting, 0U);
  const UnitBalance& balance = report.domains.front().balance;
  const double parts =
      (balance.units + balance.running + balance.idle + balance.without_units).si();
  EXPECT_NEAR(parts, balance.measured.si(), 1e-9 * balance.measured.si());
}

}  // namespace
}  // namespace wattle::lab
