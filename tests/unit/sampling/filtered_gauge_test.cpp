// Averages whose filter nobody has described.
#include "sampling/filtered_gauge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "read_gauge.hpp"
#include "sensors/known_sensors.hpp"

namespace wattle {
namespace {

using testing::Contains;

Channel average() {
  Channel channel = whole_watts();
  channel.metric = Metric::power_average;
  channel.gauge.scale = 1e-3;
  channel.gauge.longest_lag = kAverageLongestLag;
  return channel;
}

/// 100 W before, 300 W from 0 s on, as a filter shows it: `part(t)` of the step after t seconds.
class ShownStep : public KnownHistory {
 public:
  ShownStep(double (*part)(double), nanoseconds from) : KnownHistory(average()) {
    for (nanoseconds at = from; at <= 10s; at += 100ms) {
      const double shown_w = 100.0 + 200.0 * (at > 0s ? part(Seconds(at).count()) : 0.0);
      read(at, static_cast<std::uint64_t>(std::llround(shown_w * 1e3)));
    }
  }
};

double first_order(double after_s) { return -std::expm1(-after_s / 0.5); }
double second_order(double after_s) {
  return 1.0 - (1.0 + after_s / 0.6) * std::exp(-after_s / 0.6);
}
double mean_over_a_second(double after_s) { return std::min(after_s, 1.0); }

TEST(FilteredGauge, HoldsTheTruthWhateverTheFilterIs) {
  for (const auto& part : {first_order, second_order, mean_over_a_second}) {
    const ShownStep history(part, 0s);
    const EnergyFigure figure = energy(history, 0s, 10s);
    EXPECT_NEAR(figure.energy->si(), 3000.0, figure.uncertainty.si());
    EXPECT_LT(figure.uncertainty.si(), 500.0);
    EXPECT_THAT(names(figure.flags), Contains("coverage_unknown"));
    EXPECT_EQ(figure.coverage, std::nullopt);
  }
}

TEST(FilteredGauge, IsNarrowerWhereItWasSeenToSettle) {
  const ShownStep short_before(first_order, 0s);
  const ShownStep long_before(first_order, -3s);
  const EnergyFigure unseen = energy(short_before, 0s, 10s);
  const EnergyFigure seen = energy(long_before, 0s, 10s);
  EXPECT_NEAR(seen.energy->si(), 3000.0, seen.uncertainty.si());
  EXPECT_LT(seen.uncertainty.si(), 0.9 * unseen.uncertainty.si());
}

TEST(FilteredGauge, IsExactOfASteadyPower) {
  KnownHistory history(average());
  history.read_through(0s, 10s, 250'000);
  const EnergyFigure figure = energy(history, 0s, 10s);
  EXPECT_DOUBLE_EQ(figure.energy->si(), 2500.0);
  EXPECT_LT(figure.uncertainty.si(), 0.05 * 2500.0);
}

TEST(FilteredGauge, AllowsForARiseThatIsFollowedSoonerThanAFall) {
  // On for half of each 2 s: shown with 0.2 s up and 0.8 s down.
  KnownHistory history(average());
  double shown_w = 100.0;
  for (int i = 0; i <= 200; ++i) {
    history.read(i * 100ms, static_cast<std::uint64_t>(std::llround(shown_w * 1e3)));
    const double power_w = i / 10 % 2 == 0 ? 300.0 : 100.0;
    const double constant_s = power_w > shown_w ? 0.2 : 0.8;
    shown_w += (power_w - shown_w) * -std::expm1(-0.1 / constant_s);
  }
  const EnergyFigure figure = energy(history, 0s, 20s);
  EXPECT_GT(figure.energy->si(), 4300.0) << "it shows more than there was";
  EXPECT_NEAR(figure.energy->si(), 4000.0, figure.uncertainty.si());
}

TEST(FilteredGauge, CarriesWhatComesBackWithTheSignOfTheStep) {
  const EnergyFigure figure = energy(ShownStep(second_order, 0s), 0s, 10s);
  EXPECT_LT(figure.common, Joules());
  EXPECT_LE(-figure.common.si(), figure.uncertainty.si());
}

TEST(FilteredGauge, CostsAsMuchForAnHourAndHoldsTheTruth) {
  KnownHistory history(average(), {.period = 100ms, .memory_limit = std::size_t{4} << 20U});
  double shown_w = 100.0;
  double truth_j = 0.0;
  for (int i = 0; i <= 36'000; ++i) {
    history.read(i * 100ms, static_cast<std::uint64_t>(std::llround(shown_w * 1e3)));
    const double power_w = i / 50 % 2 == 0 ? 300.0 : 100.0;
    if (i < 36'000) truth_j += power_w * 0.1;
    shown_w += (power_w - shown_w) * -std::expm1(-0.1 / 0.5);
  }
  const EnergyFigure figure = energy(history, 0s, 1h);
  EXPECT_NEAR(figure.energy->si(), truth_j, figure.uncertainty.si());
  EXPECT_LT(figure.uncertainty.si(), truth_j);
}

ShownValue shown(double from_s, double to_s, double power_w) {
  return {.first_s = from_s, .last_s = to_s, .power_w = power_w};
}

TEST(SettlingTimes, AreThoseFromOneLevelToAnother) {
  const SettlingTimes times =
      settling_times({shown(0.0, 2.0, 100.0), shown(2.1, 2.1, 180.0), shown(2.2, 2.2, 250.0),
                      shown(2.3, 6.0, 300.0), shown(6.1, 6.1, 150.0), shown(6.2, 9.0, 100.0)});
  EXPECT_NEAR(times.rise_s, 0.4, 1e-9) << "and one update more";
  EXPECT_NEAR(times.fall_s, 0.3, 1e-9);
}

TEST(SettlingTimes, AreUnknownWhereNothingWasLevel) {
  EXPECT_EQ(settling_times({}).rise_s, 0.0);
  EXPECT_EQ(settling_times({shown(0.0, 9.0, 100.0)}).rise_s, 0.0);
  // It turns back before it is level.
  const SettlingTimes times =
      settling_times({shown(0.0, 2.0, 100.0), shown(2.1, 2.1, 180.0), shown(2.2, 2.2, 250.0),
                      shown(2.3, 2.3, 170.0), shown(2.4, 9.0, 100.0)});
  EXPECT_EQ(times.rise_s, 0.0);
  EXPECT_EQ(times.fall_s, 0.0);
}

TEST(SettlingTimes, AreUnknownOfAJump) {
  const SettlingTimes times = settling_times({shown(0.0, 2.0, 100.0), shown(2.1, 9.0, 300.0)});
  EXPECT_EQ(times.rise_s, 0.0) << "it may be renewed every 2 s";
}

}  // namespace
}  // namespace wattle
