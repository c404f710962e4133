#include "sampling/uncertainty.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace wattle {
namespace {

using namespace std::chrono_literals;

constexpr double kRounding = 1e-9;

/// A window in which nothing is uncertain; each test adds one term.
CounterWindowFacts certain() {
  return {.energy = Joules(0.0),
          .length = Seconds(10.0),
          .power_after_begin = Watts(0.0),
          .power_before_end = Watts(0.0),
          .begin_half_width = 0ns,
          .end_half_width = 0ns,
          .tick = Joules(0.0),
          .update = {.mean = 0ns, .spread = 0ns, .p99 = 0ns}};
}

TEST(Uncertainty, IsNoneWhereNothingIsUncertain) {
  EXPECT_EQ(plain_counter_uncertainty(certain()), Joules(0.0));
}

TEST(Uncertainty, OfTheEndsByTheAgeOfTheirValuesAndThePowerThatIsNotSeen) {
  CounterWindowFacts window = certain();
  window.update.mean = 1ms;
  window.power_after_begin = Watts(300.0);
  window.power_before_end = Watts(300.0);
  // 2 x sqrt(2 x 300^2 x 0.001^2 x (1/12 + 4/3 x 1/3))
  EXPECT_NEAR(plain_counter_uncertainty(window).si(), 0.6164414002968976, kRounding);
}

TEST(Uncertainty, OfEndsThatDifferByTheMeanAgeToo) {
  CounterWindowFacts window = certain();
  window.update.mean = 1ms;
  window.power_before_end = Watts(300.0);
  // 2 x sqrt(300^2 x 0.001^2 x (1/12 + 1/4 + 4/3 x 1/3))
  EXPECT_NEAR(plain_counter_uncertainty(window).si(), 0.5291502622129181, kRounding);
}

TEST(Uncertainty, OfTheEndsByTheSpread) {
  CounterWindowFacts window = certain();
  window.update.mean = 1ms;
  window.update.spread = 270us;
  window.power_after_begin = Watts(100.0);
  window.power_before_end = Watts(100.0);
  // E[a] is 0.53645 ms, E[a^2] is 0.40623 ms^2
  EXPECT_NEAR(plain_counter_uncertainty(window).si(), 0.2297997694129004, kRounding);
}

TEST(Uncertainty, OfRoundingToATick) {
  CounterWindowFacts window = certain();
  window.tick = Joules(0.6);
  // 2 x sqrt(0.6^2 / 6)
  EXPECT_NEAR(plain_counter_uncertainty(window).si(), 0.4898979485566356, kRounding);
}

TEST(Uncertainty, OfWhenTheReadsTookPlace) {
  CounterWindowFacts window = certain();
  window.power_after_begin = Watts(300.0);
  window.begin_half_width = 10us;
  window.power_before_end = Watts(100.0);
  window.end_half_width = 40us;
  // 2 x sqrt((0.003^2 + 0.004^2) / 3)
  EXPECT_NEAR(plain_counter_uncertainty(window).si(), 0.0057735026918962576, kRounding);
}

TEST(Uncertainty, AddsItsTermsInQuadrature) {
  CounterWindowFacts window = certain();
  window.power_after_begin = Watts(100.0);
  window.power_before_end = Watts(100.0);
  window.begin_half_width = 30us;
  window.end_half_width = 30us;
  window.tick = Joules(1.0 / 16384.0);
  window.update = {.mean = 1ms, .spread = 270us, .p99 = 1650us};
  // ages 2 x 10^4 x 1.1846e-7, unseen 2 x 10^4 x 4/3 x 4.0623e-7, rounding 6.2e-10,
  // reads 2 x 10^4 x 9e-10 / 3
  EXPECT_NEAR(plain_counter_uncertainty(window).si(), 0.2298519882571153, kRounding);
}

TEST(Uncertainty, OfAnEmptyWindowIsThatOfItsEnds) {
  CounterWindowFacts window = certain();
  window.length = Seconds(0.0);
  window.tick = Joules(0.6);
  EXPECT_NEAR(plain_counter_uncertainty(window).si(), 0.4898979485566356, kRounding);
}

}  // namespace
}  // namespace wattle
