#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "known_history.hpp"
#include "sampling/integrate.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

/// Ten seconds of it.
EnergyFigure figure(Method method, double energy_j, double uncertainty_j) {
  const Metric metric = method == Method::counter ? Metric::energy : Metric::power_instant;
  return {.energy = Joules(energy_j),
          .uncertainty = Joules(uncertainty_j),
          .known = Seconds(10.0),
          .mean = Watts(energy_j / 10.0),
          .method = method,
          .metric = metric,
          .quantity = to_string(metric)};
}

EnergyFigure counted(double energy_j, double uncertainty_j) {
  return figure(Method::counter, energy_j, uncertainty_j);
}

EnergyFigure integrated(double energy_j, double uncertainty_j) {
  EnergyFigure gauge = figure(Method::integrated, energy_j, uncertainty_j);
  gauge.coverage = 1.0;
  return gauge;
}

/// By a gauge that samples a quarter of the time.
EnergyFigure glimpsed(double energy_j, double uncertainty_j) {
  EnergyFigure gauge = integrated(energy_j, uncertainty_j);
  gauge.coverage = 0.25;
  gauge.flags.set(Flag::partial_coverage);
  return gauge;
}

EnergyFigure absent(Method method) {
  EnergyFigure absent{.unknown = Seconds(10.0), .method = method};
  absent.flags.set(Flag::gap);
  return absent;
}

/// Two of its ten seconds are unknown.
EnergyFigure without_two_seconds(EnergyFigure figure) {
  figure.known = Seconds(8.0);
  figure.unknown = Seconds(2.0);
  figure.mean = *figure.energy / figure.known;
  return figure;
}

TEST(BestEnergy, IsTheOneThatIsLeastUncertain) {
  EXPECT_EQ(best_energy({counted(1000, 20), integrated(1005, 5)}).method, Method::integrated);
  EXPECT_EQ(best_energy({counted(1000, 5), integrated(1005, 20)}).method, Method::counter);
}

TEST(BestEnergy, DoesNotBelieveAGaugeThatLooksAwayMoreThanACounter) {
  EXPECT_EQ(best_energy({counted(1000, 20), glimpsed(1005, 5)}).method, Method::counter);
  EnergyFigure unknown = integrated(1005, 5);
  unknown.coverage.reset();
  EXPECT_EQ(best_energy({counted(1000, 20), unknown}).method, Method::counter);
}

TEST(BestEnergy, BelievesAGaugeThatLooksAwayWhereTheCounterHasHardlyMoved) {
  EnergyFigure short_counter = counted(1000, 20'000);
  short_counter.flags.set(Flag::short_window);
  EXPECT_EQ(best_energy({short_counter, glimpsed(1005, 5)}).method, Method::integrated);
}

/// By a counter that adds up what a gauge shows.
EnergyFigure fed(double energy_j, double uncertainty_j) {
  EnergyFigure counter = counted(energy_j, uncertainty_j);
  counter.coverage = 0.25;
  counter.flags.set(Flag::partial_coverage);
  return counter;
}

TEST(BestEnergy, DoesNotPreferACounterThatIsFedToTheGaugeThatFeedsIt) {
  EXPECT_EQ(best_energy({fed(1000, 20), glimpsed(1005, 5)}).method, Method::integrated);
  EXPECT_EQ(best_energy({fed(1000, 5), glimpsed(1005, 20)}).method, Method::counter);
  EXPECT_EQ(best_energy({fed(1000, 5), counted(1000, 20), glimpsed(1005, 5)}).coverage,
            std::nullopt)
      << "but one that sees all the time to both";
}

TEST(BestEnergy, OfEqualsIsTheFirst) {
  EXPECT_EQ(best_energy({counted(1000, 5), integrated(1000, 5)}).method, Method::counter);
}

TEST(BestEnergy, OfOneIsThatOne) {
  const EnergyFigure best = best_energy({integrated(1000, 5)});
  EXPECT_EQ(best.energy, Joules(1000.0));
  EXPECT_THAT(best.alternatives, IsEmpty());
  EXPECT_THAT(names(best.flags), IsEmpty());
}

TEST(BestEnergy, ListsTheOthersFromTheLeastUncertainOn) {
  EnergyFigure average = integrated(1010, 30);
  average.metric = Metric::power_average;
  average.quantity = to_string(average.metric);
  average.flags.set(Flag::estimated);
  const EnergyFigure best = best_energy({counted(1000, 20), integrated(1005, 5), average});
  ASSERT_THAT(best.alternatives, SizeIs(2));
  EXPECT_EQ(best.alternatives[0].method, Method::counter);
  EXPECT_EQ(best.alternatives[0].energy, Joules(1000.0));
  EXPECT_EQ(best.alternatives[0].uncertainty, Joules(20.0));
  EXPECT_EQ(best.alternatives[1].quantity, "power_average");
  EXPECT_THAT(names(best.alternatives[1].flags), ElementsAre("estimated"));
  EXPECT_THAT(names(best.flags), IsEmpty()) << "what the others say of themselves is theirs";
}

TEST(BestEnergy, LeavesOutWhatIsNotKnown) {
  const EnergyFigure best = best_energy({absent(Method::counter), integrated(1000, 50)});
  EXPECT_EQ(best.energy, Joules(1000.0));
  EXPECT_THAT(best.alternatives, IsEmpty());
}

TEST(BestEnergy, OfNothingKnownIsTheFirst) {
  const EnergyFigure best = best_energy({absent(Method::counter), absent(Method::integrated)});
  EXPECT_EQ(best.method, Method::counter);
  EXPECT_EQ(best.energy, std::nullopt);
  EXPECT_EQ(best.unknown, Seconds(10.0));
  EXPECT_THAT(names(best.flags), ElementsAre("gap"));
}

TEST(BestEnergy, TakesAnUnknownStretchForDoubt) {
  const EnergyFigure best =
      best_energy({without_two_seconds(counted(800, 5)), integrated(1000, 50)});
  EXPECT_EQ(best.method, Method::integrated) << "200 J are missing there";
  EXPECT_FALSE(best.flags.has(Flag::disagrees)) << "they tell of different times";
}

TEST(BestEnergy, TakesAnUnknownStretchForDoubtWhereNoPowerIsReported) {
  EnergyFigure counter = without_two_seconds(counted(800, 5));
  counter.mean.reset();
  EXPECT_EQ(best_energy({counter, integrated(1000, 50)}).method, Method::integrated);
}

TEST(BestEnergy, IsTheCountersWhereTheyDisagree) {
  const EnergyFigure best = best_energy({counted(1000, 20), integrated(700, 5)});
  EXPECT_EQ(best.method, Method::counter) << "it misses no time";
  EXPECT_THAT(names(best.flags), ElementsAre("disagrees"));
  EXPECT_THAT(best.alternatives, ElementsAre(Field(&AlternativeEnergy::energy, Joules(700.0))));
}

TEST(BestEnergy, AgreesWithinWhatSensorsAreOff) {
  // 5 % of the greater one, and 13 J of sampling: 51.7 J in quadrature.
  EXPECT_FALSE(best_energy({counted(1000, 12), integrated(949, 5)}).flags.has(Flag::disagrees));
  EXPECT_TRUE(best_energy({counted(1000, 12), integrated(948, 5)}).flags.has(Flag::disagrees));
}

TEST(BestEnergy, IsNotOfASensorThatShowsNothing) {
  EnergyFigure dead_gauge = integrated(0, 0.1);
  dead_gauge.flags.set(Flag::zero);
  EXPECT_EQ(best_energy({without_two_seconds(counted(800, 5)), dead_gauge}).energy, Joules(800.0));
  EnergyFigure dead_counter = counted(0, 0.1);
  dead_counter.flags.set(Flag::zero);
  const EnergyFigure best = best_energy({dead_counter, integrated(1000, 50)});
  EXPECT_EQ(best.energy, Joules(1000.0));
  EXPECT_THAT(names(best.flags), ElementsAre("disagrees"));
}

/// Of an unknown filter.
EnergyFigure averaged(double energy_j, double uncertainty_j) {
  EnergyFigure average = integrated(energy_j, uncertainty_j);
  average.metric = Metric::power_average;
  average.quantity = to_string(average.metric);
  return average;
}

TEST(BestEnergy, IsNoAveragesBesideACounterOrAnInstantGauge) {
  EXPECT_EQ(best_energy({averaged(1005, 1), counted(1000, 50)}).method, Method::counter)
      << "though it is less certain";
  EXPECT_EQ(best_energy({averaged(1005, 1), integrated(1000, 50)}).quantity, "power_instant");
  EnergyFigure short_counter = counted(1000, 20'000);
  short_counter.flags.set(Flag::short_window);
  EXPECT_EQ(best_energy({averaged(100, 1), short_counter}).method, Method::counter);
}

TEST(BestEnergy, SaysWhereAnAverageDisagrees) {
  const EnergyFigure gauge = best_energy({averaged(1300, 10), integrated(1000, 50)});
  EXPECT_EQ(gauge.quantity, "power_instant");
  EXPECT_THAT(names(gauge.flags), ElementsAre("disagrees"));
  EXPECT_THAT(gauge.alternatives, ElementsAre(Field(&AlternativeEnergy::energy, Joules(1300.0))));
  const EnergyFigure counter =
      best_energy({averaged(1300, 10), integrated(1000, 50), counted(1010, 20)});
  EXPECT_EQ(counter.method, Method::counter);
  EXPECT_THAT(names(counter.flags), ElementsAre("disagrees"));
  EXPECT_THAT(names(best_energy({averaged(1300, 400), counted(1000, 20)}).flags), IsEmpty())
      << "within what its filter allows";
}

TEST(BestEnergy, HearsAnAverageWhereTheInstantGaugeReportsNothing) {
  EnergyFigure dead = integrated(0, 0.1);
  dead.flags.set(Flag::zero);
  EXPECT_EQ(best_energy({dead, averaged(1000, 50)}).energy, Joules(1000.0));
  EXPECT_EQ(best_energy({without_two_seconds(integrated(800, 5)), averaged(1000, 50)}).energy,
            Joules(1000.0));
  EXPECT_THAT(names(best_energy({averaged(1300, 10), counted(1000, 20)}).flags),
              ElementsAre("disagrees"));
}

TEST(BestEnergy, ShowsAStuckCounterBesideTheGaugeThatReplacesIt) {
  EnergyFigure counter = counted(0, 0);
  counter.energy.reset();
  counter.flags.set(Flag::stuck);
  const EnergyFigure best = best_energy({counter, integrated(1000, 50)});
  EXPECT_EQ(best.energy, Joules(1000.0));
  EXPECT_THAT(names(best.flags), ElementsAre());
  ASSERT_THAT(best.alternatives, SizeIs(1));
  EXPECT_EQ(best.alternatives[0].energy, std::nullopt);
  EXPECT_THAT(names(best.alternatives[0].flags), ElementsAre("stuck"));
}

TEST(BestEnergy, IsZeroWhereAllSensorsSaySo) {
  EnergyFigure counter = counted(0, 0.1);
  counter.flags.set(Flag::zero);
  EnergyFigure gauge = integrated(0, 0.2);
  gauge.flags.set(Flag::zero);
  EXPECT_THAT(names(best_energy({counter, gauge}).flags), ElementsAre("zero"));
}

}  // namespace
}  // namespace wattle
