#include "top/units.hpp"

#include <gtest/gtest.h>

#include <string>

#include "wattle/error.hpp"

namespace wattle::app {
namespace {

MeasuredEnergy energy(double joules, double uncertainty_j) {
  return {.energy = Joules(joules), .uncertainty = Joules(uncertainty_j)};
}

TEST(TopUnits, ShowAnEnergyWithItsUncertainty) {
  const Seconds length(10.0);
  EXPECT_EQ(energy_text(energy(1234.5, 1.2), length, {}), "1234.5 J ±1.2 J");
  EXPECT_EQ(
      energy_text(energy(3.6e6, 3.6e3), length, {.dimension = TopUnit::Dimension::kilowatt_hours}),
      "1.0000 kWh ±0.0010 kWh");
  EXPECT_EQ(energy_text(energy(3.6e6, 3.6e4), length, parse_price("0.30EUR")),
            "0.3000 EUR ±0.0030 EUR");
  EXPECT_EQ(energy_text(energy(3.6e6, 3.6e4), length, parse_carbon("380")),
            "380.0 g CO2 ±3.8 g CO2");
  EXPECT_EQ(energy_text({}, length, {}), "-");
}

TEST(TopUnits, MarkALowerBound) {
  MeasuredEnergy part = energy(100.0, 1.0);
  part.unknown = Seconds(5.0);
  EXPECT_EQ(energy_text(part, Seconds(10.0), {}), "≥100.0 J ±1.0 J");
}

TEST(TopUnits, ShowAPowerPerHourInAConversion) {
  EXPECT_EQ(power_text(Uncertain{100.0, 0.5}, {}), "100.0 W");
  EXPECT_EQ(power_text(Uncertain{1000.0, 5.0}, parse_price("0.30 EUR")), "0.3000 EUR/h");
  EXPECT_EQ(power_text({}, {}), "-");
}

TEST(TopUnits, SayThatAConversionIsNotMeasured) {
  EXPECT_EQ(conversion_note(parse_price("0.30EUR")), "EUR: converted at 0.3 EUR/kWh, not measured");
  EXPECT_EQ(conversion_note({}), "");
}

TEST(TopUnits, TakeTheSignOfACurrency) {
  for (const char* word : {"€", "$", "EUR", "ct", "Kč"}) {
    EXPECT_EQ(parse_price(std::string("0.30") + word).word, word);
  }
}

TEST(TopUnits, RefuseWhatIsNoPrice) {
  for (const char* text :
       {"", "EUR", "0.30", "-1EUR", "0.3.0EUR", "1e3EUR\x1b", "1 a b", "1verylongname", "0,30EUR",
        "0,30 EUR", "0.30EUR/kWh", "0'30EUR", "1e3EUR", "0.3E,U"}) {
    EXPECT_THROW((void)parse_price(text), InvalidArgument) << text;
  }
  for (const char* text : {"", "x", "-1", "nan", "inf", "1e300", "0,38", "380g"}) {
    EXPECT_THROW((void)parse_carbon(text), InvalidArgument) << text;
  }
}

}  // namespace
}  // namespace wattle::app
