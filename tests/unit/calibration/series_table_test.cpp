#include "calibration/series_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/split.hpp"

namespace wattle {
namespace {

SeriesTable series_of(std::string_view text) {
  SeriesTable table;
  while (!text.empty()) table.take(take_line(text));
  return table;
}

constexpr std::string_view kTitles =
    "time_unix_s,elapsed_s,domain,power_w,utilization_percent,memory_used_bytes,"
    "temperature_celsius,clock_hz\n";

TEST(SeriesTable, KeepsWhatDoesNotOverlap) {
  const SeriesTable table = series_of(
      std::string(kTitles) +
      "100.1,0.1,host,,12.0,5,,\n100.1,0.1,package_0,10.000,,,,\n100.1,0.1,core_0,4.000,,,,\n"
      "100.2,0.2,host,,99.0,5,,\n100.2,0.2,package_0,20.000,,,,\n100.2,0.2,core_0,5.000,,,,\n");
  EXPECT_EQ(table.bad_rows(), 0U);
  const auto domains = table.domains();
  ASSERT_EQ(domains.size(), 1U);
  EXPECT_EQ(domains[0].name, "package_0");
  EXPECT_NEAR(domains[0].power.begin_s(), 100.0, 1e-9);
  EXPECT_NEAR(domains[0].power.energy_j(), 3.0, 1e-6);
  EXPECT_EQ(domains[0].was_used, true);
  EXPECT_THAT(table.left_out(), testing::ElementsAre("core_0"));
}

TEST(SeriesTable, LeavesUnknownPowerAndPausesOpen) {
  const SeriesTable table = series_of(
      "100.1,0.1,dram_0,10.000,,,,\n100.2,0.2,dram_0,,,,,\n100.3,0.3,dram_0,10.000,,,,\n"
      "100.4,0.4,dram_0,10.000,,,,\n109.0,0.1,dram_0,30.000,,,,\n");
  const auto domains = table.domains();
  ASSERT_EQ(domains.size(), 1U);
  EXPECT_NEAR(domains[0].power.known_s(), 0.4, 1e-6);
  EXPECT_FALSE(domains[0].power.mean_w(100.15, 100.15));
  EXPECT_FALSE(domains[0].power.mean_w(105.0, 105.0));
  EXPECT_FALSE(domains[0].was_used);
}

TEST(SeriesTable, CountsWhatIsNoRow) {
  const SeriesTable table = series_of("a,b\n1,2,package_0,-5,,,,\n1,2,,5,,,,\n");
  EXPECT_EQ(table.rows(), 0U);
  EXPECT_EQ(table.bad_rows(), 3U);
  EXPECT_TRUE(table.domains().empty());
}

}  // namespace
}  // namespace wattle
