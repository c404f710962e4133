#include "base/text/quantity.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace wattle {
namespace {

TEST(QuantityText, OfAnEnergyHasFourDigits) {
  EXPECT_EQ(to_text(Joules(50.123)), "50.12 J");
  EXPECT_EQ(to_text(Joules(1234.6)), "1235 J");
  EXPECT_EQ(to_text(Joules(7.0)), "7.000 J");
  EXPECT_EQ(to_text(Joules(0.0)), "0 J");
}

TEST(QuantityText, TakesALargerUnitFromTenThousandOn) {
  EXPECT_EQ(to_text(Joules(9999.0)), "9999 J");
  EXPECT_EQ(to_text(Joules(12'346.0)), "12.35 kJ");
  EXPECT_EQ(to_text(Joules(3.6e6)), "3600 kJ");
  EXPECT_EQ(to_text(Joules(1.5e8)), "150.0 MJ");
  EXPECT_EQ(to_text(Joules(2.5e15)), "2500 TJ");
}

TEST(QuantityText, TakesASmallerUnitBelowOne) {
  EXPECT_EQ(to_text(Joules(1.0)), "1.000 J");
  EXPECT_EQ(to_text(Joules(0.5)), "500.0 mJ");
  EXPECT_EQ(to_text(Joules(0.002)), "2.000 mJ");
  EXPECT_EQ(to_text(Joules(1.0 / 16384.0)), "61.04 µJ") << "a tick of a package's counter";
  EXPECT_EQ(to_text(Watts(0.0123)), "12.30 mW");
}

TEST(QuantityText, OfANegativeEnergyKeepsItsSign) {
  EXPECT_EQ(to_text(Joules(-50.123)), "-50.12 J");
  EXPECT_EQ(to_text(Joules(-12'346.0)), "-12.35 kJ");
}

TEST(QuantityText, OfAPower) {
  EXPECT_EQ(to_text(Watts(75.123)), "75.12 W");
  EXPECT_EQ(to_text(Watts(1204.4)), "1204 W");
  EXPECT_EQ(to_text(Watts(12'040.0)), "12.04 kW");
}

TEST(RoundedNumbers, AddUpToTheirRoundedSum) {
  const std::array parts = {Uncertain{97.0, 10.0}, Uncertain{48.0, 6.0}};
  const double limit = limit_that_adds_up({145.0, 12.0}, parts);
  EXPECT_EQ(rounded_text(Watts(97.0), Watts(std::min(10.0, limit))), "100 W");
  EXPECT_EQ(rounded_text(Watts(48.0), Watts(std::min(6.0, limit))), "48 W");
  EXPECT_EQ(rounded_text(Watts(145.0), Watts(std::min(12.0, limit))), "150 W");
  const std::array alike = {Uncertain{96.0, 9.0}, Uncertain{48.0, 5.0}};
  EXPECT_EQ(limit_that_adds_up({144.0, 11.0}, alike), 9.0) << "144, not 140";
  const std::array wrong = {Uncertain{96.0, 10.0}, Uncertain{47.0, 10.0}};
  EXPECT_LT(limit_that_adds_up({143.0, 14.0}, wrong), 10.0) << "100 and 50 do not make 140";
}

TEST(RoundedNumbers, HaveAtMostADigitMoreThanTheSmallestUncertainty) {
  const std::array parts = {Uncertain{1.264, 0.1}, Uncertain{1.264, 0.1}, Uncertain{1.264, 0.1}};
  EXPECT_DOUBLE_EQ(limit_that_adds_up({3.792, 0.17}, parts), 0.01) << "1.26 three times is 3.78";
  EXPECT_EQ(limit_that_adds_up({3.0, 0.0}, std::array{Uncertain{1.0}, Uncertain{2.0}}), 0.0);
}

TEST(AnUncertainty, HasTwoDigits) {
  EXPECT_EQ(with_two_digits(Joules(0.1234)), Joules(0.12));
  EXPECT_EQ(with_two_digits(Joules(538.7)), Joules(540.0));
  EXPECT_EQ(with_two_digits(Joules(0.0999)), Joules(0.1));
  EXPECT_EQ(with_two_digits(Joules(8.631674575031098e-05)), Joules(8.6e-05));
  EXPECT_EQ(with_two_digits(Joules(1.234e30)), Joules(1.2e30));
  EXPECT_EQ(with_two_digits(Joules(0.0)), Joules(0.0));
}

TEST(AnUncertainty, IsThatOfTheTextAlways) {
  // Nothing that a sum leaves behind: 0.3 and not 0.30000000000000004.
  for (int digits = 10; digits < 100; ++digits) {
    for (const double place : {1e-6, 1e-3, 1e-1, 1.0, 1e3}) {
      const double rounded = with_two_digits(Joules(digits * place)).si();
      EXPECT_LE(fmt::format("{}", rounded).size(), 7U) << rounded;
      EXPECT_NEAR(rounded, digits * place, 1e-9 * rounded);
    }
  }
}

TEST(QuantityText, OfAnUncertaintyHasTwoDigitsAndSetsThoseOfTheEnergy) {
  EXPECT_EQ(to_text(Joules(50.1234), Joules(0.0449)), "50.123 J ±0.045 J");
  EXPECT_EQ(to_text(Joules(50.1234), Joules(2.34)), "50.1 J ±2.3 J");
  EXPECT_EQ(to_text(Joules(512.3), Joules(12.0)), "512 J ±12 J");
  EXPECT_EQ(to_text(Joules(50'123.4), Joules(44.9)), "50.123 kJ ±0.045 kJ");
}

TEST(QuantityText, OfAnUncertaintyBeyondTheEnergyTakesItsUnit) {
  EXPECT_EQ(to_text(Joules(0.0), Joules(3.3)), "0.0 J ±3.3 J");
  EXPECT_EQ(to_text(Joules(1.0 / 16384.0), Joules(3.3)), "0.0 J ±3.3 J");
  EXPECT_EQ(to_text(Joules(1.0 / 16384.0), Joules(0.00003)), "61 µJ ±30 µJ");
}

TEST(QuantityText, WithoutUncertaintyHasFourDigits) {
  EXPECT_EQ(to_text(Joules(50.123), Joules(0.0)), "50.12 J ±0.00 J");
}

TEST(QuantityText, OfATimeTakesMinutesAndHoursWhereTheyHelp) {
  EXPECT_EQ(to_text(Seconds(0.0)), "0.000 s");
  EXPECT_EQ(to_text(Seconds(0.00234)), "0.002 s");
  EXPECT_EQ(to_text(Seconds(12.346)), "12.35 s");
  EXPECT_EQ(to_text(Seconds(599.0)), "599.00 s");
  EXPECT_EQ(to_text(Seconds(5000.0)), "83 min 20 s");
  EXPECT_EQ(to_text(Seconds(18'180.0)), "5 h 03 min");
  EXPECT_EQ(to_text(Seconds(1e6)), "277 h 46 min");
}

TEST(QuantityText, OfBytesIsInPowersOfAThousand) {
  EXPECT_EQ(bytes_to_text(0), "0 B");
  EXPECT_EQ(bytes_to_text(999), "999 B");
  EXPECT_EQ(bytes_to_text(1000), "1.000 kB");
  EXPECT_EQ(bytes_to_text(1'234'567'890), "1.235 GB");
  EXPECT_EQ(bytes_to_text(UINT64_MAX), "18446744 TB");
}

TEST(Quantity, HasNoDigitThatItsUncertaintyDoesNotSupport) {
  EXPECT_EQ(rounded_text(Watts(75.123), Watts(0.4)), "75.1 W");
  EXPECT_EQ(rounded_text(Watts(75.123), Watts(0.001)), "75.12 W");
  EXPECT_EQ(rounded_text(Watts(1234.0), Watts(46.0)), "1230 W");
  EXPECT_EQ(rounded_text(Watts(4.0), Watts(10.0)), "0 W");
  EXPECT_EQ(rounded_text(Watts(75.123), Watts(0.0)), "75.12 W");
  EXPECT_EQ(rounded_text(Joules(12345.0), Joules(400.0)), "12.3 kJ");
  EXPECT_EQ(to_text(Joules(3083.0), Joules(543.0)), "3080 J ±540 J");
}

}  // namespace
}  // namespace wattle
