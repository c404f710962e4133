#include "sampling/gauges/gauge_spread.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "known_history.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr double kRounding = 1e-6;
constexpr double kPlenty = 20.0;

double sine(double look, double looks_per_period) {
  return 250.0 + 150.0 * std::sin(2.0 * std::numbers::pi * look / looks_per_period);
}

TEST(Innovations, OfASineAreNone) {
  for (const double looks_per_period : {40.0, 7.3, 10.0 / 3.0}) {
    Innovations innovations;
    for (int look = 0; look < 100; ++look) innovations.add(sine(look, looks_per_period), 1);
    EXPECT_NEAR(innovations.squares(2, kPlenty), 0.0, kRounding) << looks_per_period;
  }
}

TEST(Innovations, OfAConstantPowerAreNone) {
  Innovations innovations;
  innovations.add(300.0, 100);
  EXPECT_EQ(innovations.squares(3, kPlenty), 0.0);
}

TEST(Innovations, OfAStepAreItsSquareAndALittleMore) {
  Innovations innovations;
  innovations.add(100.0, 50);
  innovations.add(300.0, 50);
  EXPECT_GT(innovations.squares(2, kPlenty), 0.9 * 200.0 * 200.0);
  EXPECT_LT(innovations.squares(2, kPlenty), 1.1 * 200.0 * 200.0);
}

TEST(Innovations, CountAValueForEachLookAtIt) {
  Innovations once;
  Innovations often;
  for (int i = 0; i < 50; ++i) {
    const double value = sine(i, 9.1) + (i % 7 == 0 ? 40.0 : 0.0);
    const auto looks = static_cast<std::uint64_t>(1 + i % 6);
    once.add(value, looks);
    for (std::uint64_t look = 0; look < looks; ++look) often.add(value, 1);
  }
  EXPECT_EQ(once.samples(), often.samples());
  EXPECT_GT(once.squares(3, kPlenty), 0.0);
  EXPECT_NEAR(once.squares(3, kPlenty) / often.squares(3, kPlenty), 1.0, kRounding);
}

TEST(Innovations, OfTooFewLooksAreNotReported) {
  constexpr double kFewest = 6.0;
  Innovations innovations;
  for (int look = 0; look < 7; ++look) innovations.add(sine(look, 5.0), 1);
  EXPECT_EQ(innovations.squares(2, kFewest), std::numeric_limits<double>::infinity());
  innovations.add(sine(7, 5.0), 1);
  EXPECT_NEAR(innovations.squares(2, kFewest), 0.0, kRounding);
}

/// Values of one sample each, 100 ms apart, from `kBegin` on.
/// The same again and again, one sample after the other.
template <class Pattern>
Recurrence repeated(const Pattern& pattern, std::size_t looks) {
  Recurrence recurrence;
  for (std::size_t i = 0; i < looks; ++i) recurrence.add(pattern[i % pattern.size()], 1);
  return recurrence;
}

TEST(Recurrence, FindsAfterHowManyLooksValuesComeBack) {
  EXPECT_EQ(repeated(std::vector{200.0, 400.0}, 10).samples(), 2U);
  EXPECT_EQ(repeated(std::vector{400.0, 400.0, 200.0}, 10).samples(), 3U);
  EXPECT_EQ(repeated(std::vector{2.0, 4.0, 4.0, 2.0, 3.0, 4.0, 1.0, 2.0}, 30).samples(), 8U);
  EXPECT_EQ(repeated(std::vector{400.0, 401.0, 200.0, 400.0, 400.0, 201.0}, 30).samples(), 3U)
      << "nearly";
}

TEST(Recurrence, NeedsToSeeThemComeBackTwice) {
  EXPECT_EQ(repeated(std::vector{400.0, 400.0, 200.0}, 8).samples(), 0U);
  EXPECT_EQ(repeated(std::vector{400.0, 400.0, 200.0}, 9).samples(), 3U);
}

TEST(Recurrence, FindsNoneInAConstantPowerAStepOrASine) {
  EXPECT_EQ(repeated(std::vector{300.0}, 100).samples(), 0U);
  Recurrence step;
  step.add(100.0, 50);
  step.add(300.0, 50);
  EXPECT_EQ(step.samples(), 0U);
  for (const double looks_per_period : {40.0, 10.0 / 3.0}) {
    Recurrence recurrence;
    for (int look = 0; look < 100; ++look) recurrence.add(sine(look, looks_per_period), 1);
    EXPECT_EQ(recurrence.samples(), 0U) << looks_per_period;
  }
}

TEST(Recurrence, CountsAValueForEachLookAtIt) {
  Recurrence recurrence;
  for (int i = 0; i < 10; ++i) {
    recurrence.add(400.0, 2);
    recurrence.add(200.0, 1);
  }
  EXPECT_EQ(recurrence.samples(), 3U);
  EXPECT_EQ(recurrence.changing(), 30U);
}

TEST(Recurrence, FindsNoneInASinglePulse) {
  for (const std::uint64_t looks : {1U, 2U, 5U}) {
    Recurrence pulse;
    pulse.add(70.0, 50);
    pulse.add(400.0, looks);
    pulse.add(70.0, 50);
    EXPECT_EQ(pulse.samples(), 0U) << looks;
  }
}

TEST(Recurrence, FindsALoadThatBeginsAndEnds) {
  Recurrence recurrence;
  recurrence.add(70.0, 1000);
  for (int i = 0; i < 60; ++i) recurrence.add(i % 3 == 0 ? 200.0 : 400.0, 1);
  recurrence.add(70.0, 1000);
  EXPECT_EQ(recurrence.samples(), 3U);
  EXPECT_EQ(recurrence.changing(), 60U + 16U);
}

TEST(Recurrence, IsTheSameWhereItIsKnownHowManySamplesThereAre) {
  // So many of the first samples are of no pattern; with few of them there is one.
  constexpr std::uint64_t kSamples = 900;
  constexpr std::array<double, 3> kPattern = {400.0, 380.0, 200.0};
  for (const std::uint64_t others : {0U, 40U, 80U, 150U, 400U, 900U}) {
    Recurrence all;
    Recurrence counted(kSamples);
    for (std::uint64_t i = 0; i < kSamples; ++i) {
      const double other = 200.0 + static_cast<double>((i * i * 37 + i * 101) % 211);
      const double value = i < others ? other : kPattern[i % kPattern.size()];
      all.add(value, 1);
      counted.add(value, 1);
    }
    EXPECT_EQ(counted.samples(), all.samples()) << others;
    EXPECT_EQ(all.samples(), others <= 80 ? 3U : 0U) << others;
    EXPECT_LE(counted.changing(), all.changing());
    if (others == kSamples) {
      EXPECT_LT(counted.changing(), kSamples / 2) << "the rest is left out";
    }
  }
}

GaugeSpread spread_of(const std::vector<double>& values) {
  GaugeSpread spread(kBegin + 200ms, kBegin + 100ms * (static_cast<int>(values.size()) - 2), 100ms,
                     100ms);
  TimePoint at = kBegin;
  for (const double watts : values) {
    spread.add({.first_seen = at, .last_confirmed = at}, watts);
    at += 100ms;
  }
  return spread;
}

/// What a change that is alone costs of a sample at an instant, and where it comes back.
constexpr double kAlone = 1.15 / 6.0;
constexpr double kAgain = 1.2 * kAlone;

TEST(GaugeSpread, OfAFewValuesIsHalfTheirSquaredChanges) {
  EXPECT_DOUBLE_EQ(spread_of({100, 300, 200, 200}).scatter_w2({}), (40'000.0 + 10'000.0) / 2.0);
}

TEST(GaugeSpread, OfChangesThatAreAloneIsLessThanOfAPowerThatIsAnotherOneAtEachLook) {
  std::vector<double> steps;
  std::vector<double> noise;
  std::uint64_t random = 1;
  for (int look = 0; look < 400; ++look) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    const double watts = 100.0 + static_cast<double>(random >> 56U);
    noise.push_back(watts);
    steps.push_back(look % 7 == 0 || steps.empty() ? watts : steps.back());
  }
  const auto half_squared_changes = [](const GaugeSpread& spread) {
    return spread.changes_w2() / 2.0;
  };
  const GaugeSpread alone = spread_of(steps);
  EXPECT_LT(alone.scatter_w2({}), 1.1 * kAlone * half_squared_changes(alone));
  const GaugeSpread another = spread_of(noise);
  EXPECT_GT(another.scatter_w2({}), 0.8 * half_squared_changes(another));
  EXPECT_LT(another.scatter_w2({.coverage = 0.5, .lags = true}), another.scatter_w2({}) * 1.01);
}

TEST(GaugeSpread, OfASineWhoseLooksComeEarlyAndLateIsLittle) {
  std::vector<double> values;
  for (int look = 0; look < 60; ++look) {
    values.push_back(sine(look + (look * 7 % 5 - 2) / 12.0, 7.3));
  }
  const GaugeSpread spread = spread_of(values);
  EXPECT_LT(spread.scatter_w2({.jitter = 0.4}), 0.2 * spread.scatter_w2({}));
}

TEST(GaugeSpread, TakesAValueThatIsReadAThirdTimeForOneLook) {
  GaugeSpread spread(kBegin, kBegin + 6s, 100ms, 50ms);
  TimePoint seen = kBegin;
  for (int look = 0; look < 60; ++look) {
    const nanoseconds shown_for = look == 20 ? 100ms : 50ms;  // the board is a little slow
    spread.add({.first_seen = seen, .last_confirmed = seen + shown_for}, sine(look, 7.3));
    seen += shown_for + 50ms;
  }
  EXPECT_NEAR(spread.scatter_w2({}), 0.0, kRounding);
}

TEST(GaugeSpread, KnowsHowMuchTheChangesDifferFromThoseBeforeThem) {
  EXPECT_NEAR(spread_of({100, 110, 120, 130, 140}).bends_w2(), 400.0, kRounding)
      << "where it begins and ends";
  EXPECT_NEAR(spread_of({100, 110, 100, 110, 100}).bends_w2(), 1600.0, kRounding);
}

TEST(GaugeSpread, OfWhatCanBeForetoldIsNone) {
  std::vector<double> values;
  for (int look = 0; look < 30; ++look) values.push_back(sine(look, 10.0 / 3.0));
  EXPECT_NEAR(spread_of(values).scatter_w2({}), 0.0, kRounding);
}

TEST(GaugeSpread, DoesNotAverageOutWhereALoadIsInStep) {
  std::vector<double> values;
  double squares_w2 = 0.0;
  for (int look = 0; look < 90; ++look) {
    values.push_back(look % 3 == 0 ? 200.0 : 400.0);
    if (look > 0) squares_w2 += std::pow(values[values.size() - 2] - values.back(), 2.0);
  }
  EXPECT_DOUBLE_EQ(spread_of(values).scatter_w2({}), squares_w2 / 2.0 * kAgain * 90.0 / 3.0);
}

TEST(GaugeSpread, TakesItThatALoadWasInStepInReadingsThatWereLeftOutToo) {
  GaugeSpread spread(kBegin, kBegin + 3s, 100ms, 100ms);
  spread.leave_out(1e6, 200.0, 90s);
  for (int look = 0; look < 30; ++look) {
    const TimePoint at = kBegin + look * 100ms;
    spread.add({.first_seen = at, .last_confirmed = at}, look % 3 == 0 ? 200.0 : 400.0);
  }
  const double squares_w2 = 1e6 + 19.0 * 200.0 * 200.0;
  EXPECT_DOUBLE_EQ(spread.scatter_w2({}), squares_w2 / 2.0 * kAgain * 930.0 / 3.0);
}

TEST(GaugeSpread, IsNotMisledByTheLookAtTheEndThatComesEarly) {
  GaugeSpread spread(kBegin, kBegin + 3s, 100ms, 100ms);
  for (int look = 0; look < 30; ++look) {
    const TimePoint at = kBegin + look * 100ms;
    spread.add({.first_seen = at, .last_confirmed = at}, sine(look, 10.0 / 3.0));
  }
  const TimePoint early = kBegin + 2930ms;
  spread.add({.first_seen = early, .last_confirmed = early}, 390.0);
  EXPECT_NEAR(spread.scatter_w2({}), 0.0, kRounding);
}

TEST(GaugeSpread, KnowsTheChangesOfReadingsThatWereLeftOut) {
  const std::vector<double> values = {100, 120, 110, 200, 180, 170, 190};
  GaugeSpread spread(kBegin, kBegin + 600ms, 100ms, 100ms);
  double left_out_w2 = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const TimePoint at = kBegin + static_cast<int>(i) * 100ms;
    if (i >= 2 && i < 6) {
      left_out_w2 += std::pow(values[i] - values[i - 1], 2);
    }
    if (i == 5) spread.leave_out(left_out_w2, values[i], 400ms);
    if (i < 2 || i >= 5) spread.add({.first_seen = at, .last_confirmed = at}, values[i]);
  }
  const GaugeSpread whole = spread_of(values);
  EXPECT_DOUBLE_EQ(spread.scatter_w2({}), whole.scatter_w2({}));
  EXPECT_EQ(spread.overall_rise(), whole.overall_rise());
}

TEST(GaugeSpread, PredictsNothingOfReadingsThatWereLeftOut) {
  GaugeSpread spread(kBegin, kBegin + 3s, 100ms, 100ms);
  for (int look = 0; look < 30; ++look) {
    const TimePoint at = kBegin + look * 100ms;
    if (look == 15) spread.leave_out(0.0, sine(look, 10.0 / 3.0), 1s);
    spread.add({.first_seen = at, .last_confirmed = at}, sine(look, 10.0 / 3.0));
  }
  EXPECT_GT(spread.scatter_w2({}), 1000.0) << "a sine would be foretold";
}

TEST(GaugeSpread, KnowsTheChangesAroundTheEndsAndBetweenThem) {
  const GaugeSpread spread = spread_of({100, 120, 110, 200, 200, 170, 190});
  EXPECT_EQ(spread.begin_change(), Watts(20.0));
  EXPECT_EQ(spread.end_change(), Watts(20.0));
  EXPECT_EQ(spread.overall_rise(), Watts(90.0));
}

TEST(GaugeSpread, TakesAChangeForTheBeginOfALargerOneWhereItGrows) {
  EXPECT_EQ(spread_of({100, 100, 100, 100, 150}).change_since(2.0), Watts(100.0))
      << "it just began";
  EXPECT_EQ(spread_of({100, 100, 100, 150, 200}).change_since(2.0), Watts(50.0)) << "it goes on";
}

TEST(GaugeSpread, TakesAChangeThatJustBeganForAsManyTimesItselfAsAsked) {
  EXPECT_EQ(spread_of({100, 100, 100, 100, 150}).change_since(4.0), Watts(200.0));
  EXPECT_EQ(spread_of({100, 100, 100, 102, 150}).change_since(4.0), Watts(192.0)) << "or nearly";
  EXPECT_EQ(spread_of({100, 100, 100, 150, 200}).change_since(4.0), Watts(50.0)) << "it goes on";
}

TEST(GaugeSpread, TakesAChangeThatJustBeganForTheBeginOfOneLikeTheLargest) {
  EXPECT_EQ(spread_of({100, 400, 400, 400, 390}).change_since(4.0), Watts(300.0));
}

TEST(GaugeSpread, KnowsForHowLongAValueWasShownAfterAFall) {
  GaugeSpread spread(kBegin, kBegin + 3s, 100ms, 100ms);
  spread.add({.first_seen = kBegin, .last_confirmed = kBegin + 900ms}, 300.0);
  EXPECT_EQ(spread.longest_hold(), 0ms) << "the highest may stay as long as it likes";
  spread.add({.first_seen = kBegin + 1s, .last_confirmed = kBegin + 1700ms}, 200.0);
  EXPECT_EQ(spread.longest_hold(), 700ms);
}

TEST(GaugeSpread, DoesNotTakeAValueForSteadyThatWasSeenAgainBeforeItWasDue) {
  const auto seen_for = [](nanoseconds time) {
    GaugeSpread spread(kBegin, kBegin + 3s, 100ms, 100ms);
    spread.add({.first_seen = kBegin, .last_confirmed = kBegin + 900ms}, 100.0);
    spread.add({.first_seen = kBegin + 1s, .last_confirmed = kBegin + 1s + time}, 150.0);
    return spread.change_since(2.0);
  };
  EXPECT_EQ(seen_for(0ms), Watts(100.0));
  EXPECT_EQ(seen_for(70ms), Watts(100.0)) << "by the look at the window's end";
  EXPECT_LT(seen_for(100ms), Watts(50.0)) << "renewed without a change";
}

TEST(GaugeSpread, TakesItThatThePowerMayChangeAsItDoesOnAverage) {
  EXPECT_EQ(spread_of({100, 200, 100, 200, 200}).change_since(2.0),
            Watts(std::sqrt(30'000.0 / 5.0)));
}

/// Of a gauge that is renewed each 100 ms, with these values, read every `period`.
GaugeSpread read_each(nanoseconds period, const std::vector<double>& values) {
  GaugeSpread spread(kBegin, kBegin + 100ms * static_cast<int>(values.size()), 100ms, period);
  const nanoseconds shown_for = (100ms / period - 1) * period;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const TimePoint seen = kBegin + 100ms * static_cast<int>(i);
    spread.add({.first_seen = seen, .last_confirmed = seen + shown_for, .raw = 0}, values[i]);
  }
  return spread;
}

TEST(GaugeSpread, IsTheSameHoweverOftenAValueIsReadAgain) {
  std::vector<double> noise;
  for (int i = 0; i < 60; ++i) noise.push_back(200.0 + i * 7919 % 211);
  const double once_w2 = read_each(100ms, noise).scatter_w2({});
  EXPECT_GT(once_w2, 0.0);
  for (const nanoseconds period : {50ms, 20ms, 10ms}) {
    EXPECT_NEAR(read_each(period, noise).scatter_w2({}), once_w2, kRounding * once_w2)
        << period.count();
  }
}

TEST(GaugeSpread, PredictsASineThatIsReadMoreOftenThanRenewed) {
  std::vector<double> values;
  for (int look = 0; look < 60; ++look) values.push_back(sine(look, 7.3));
  EXPECT_NEAR(read_each(20ms, values).scatter_w2({}), 0.0, kRounding);
}

TEST(GaugeSpread, KnowsTheVarianceOfThePower) {
  EXPECT_DOUBLE_EQ(read_each(20ms, {100.0, 300.0, 100.0, 300.0}).variance_w2(), 15'000.0)
      << "no less than what neighbours differ by";
  EXPECT_DOUBLE_EQ(read_each(20ms, {100.0, 100.0, 300.0, 300.0}).variance_w2(), 10'000.0);
  EXPECT_DOUBLE_EQ(read_each(20ms, {300.0, 300.0}).variance_w2(), 0.0);
}

TEST(GaugeSpread, KnowsHowFarThePowerFell) {
  EXPECT_EQ(read_each(100ms, {100.0, 400.0, 400.0}).fall(), Watts(0.0)) << "it rose";
  EXPECT_EQ(read_each(100ms, {100.0, 400.0, 390.0}).fall(), Watts(0.0)) << "by next to nothing";
  EXPECT_EQ(read_each(100ms, {400.0, 400.0, 100.0}).fall(), Watts(300.0));
  EXPECT_EQ(read_each(100ms, {100.0, 400.0, 300.0}).fall(), Watts(300.0))
      << "or is about to: it has begun to";
}

}  // namespace
}  // namespace wattle
