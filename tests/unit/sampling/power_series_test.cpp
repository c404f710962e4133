#include "sampling/power_series.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace wattle {
namespace {

TEST(PowerSeries, KeepsEachIntervalOfAShortRun) {
  PowerSeries series(Seconds(0.1), {"package_0", "dram_0"});
  series.add({Watts(10.0), std::nullopt});
  series.add({Watts(20.0), Watts(1.0)});
  ASSERT_EQ(series.bins(), 2U);
  EXPECT_EQ(series.bin_length(), Seconds(0.1));
  EXPECT_EQ(series.bin(0, 1)->mean, Watts(20.0));
  EXPECT_FALSE(series.bin(1, 0)) << "a gap stays one";
  EXPECT_EQ(series.bin(1, 1)->lowest, Watts(1.0));
}

TEST(PowerSeries, JoinsNeighboursWhenItIsFull) {
  PowerSeries series(Seconds(0.1), {"package_0"});
  for (std::size_t i = 0; i < PowerSeries::kMostBins; ++i) {
    series.add({Watts(static_cast<double>(i))});
  }
  series.add({std::nullopt});
  EXPECT_EQ(series.bins(), PowerSeries::kMostBins / 2 + 1);
  EXPECT_EQ(series.bin_length(), Seconds(0.2));
  EXPECT_EQ(series.bin(0, 1)->lowest, Watts(2.0));
  EXPECT_EQ(series.bin(0, 1)->mean, Watts(2.5));
  EXPECT_EQ(series.bin(0, 1)->highest, Watts(3.0));
  EXPECT_FALSE(series.bin(0, PowerSeries::kMostBins / 2));
}

TEST(PowerSeries, IsReadFromItsBytes) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> power(0.0, 500.0);
  PowerSeries series(Seconds(0.1), {"package_0", "nvidia_gpu_0"});
  for (int i = 0; i < 2501; ++i) {
    series.add({Watts(power(random)), i % 7 < 3 ? std::nullopt : std::optional(Watts(300.0))});
  }
  const auto again = PowerSeries::unpacked(series.packed());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->domains(), series.domains());
  ASSERT_EQ(again->bins(), series.bins());
  EXPECT_DOUBLE_EQ(again->bin_length().count(), series.bin_length().count());
  for (std::size_t d = 0; d < 2; ++d) {
    for (std::size_t i = 0; i < series.bins(); ++i) {
      const auto was = series.bin(d, i);
      const auto is = again->bin(d, i);
      ASSERT_EQ(is.has_value(), was.has_value());
      if (!was) continue;
      EXPECT_NEAR(is->lowest.si(), was->lowest.si(), 1e-3);
      EXPECT_NEAR(is->mean.si(), was->mean.si(), 1e-3);
      EXPECT_NEAR(is->highest.si(), was->highest.si(), 1e-3);
    }
  }
}

TEST(PowerSeries, IsReadFromNothingElse) {
  PowerSeries series(Seconds(0.1), {"package_0"});
  series.add({Watts(10.0)});
  const std::string bytes = series.packed();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(PowerSeries::unpacked(bytes.substr(0, length))) << length;
  }
  EXPECT_FALSE(PowerSeries::unpacked(bytes + "x"));
  EXPECT_FALSE(PowerSeries::unpacked("\x02" + bytes.substr(1))) << "another format";
}

TEST(PowerSeries, OfNothingIsEmpty) {
  const auto again = PowerSeries::unpacked(PowerSeries(Seconds(0.1), {}).packed());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->bins(), 0U);
}

}  // namespace
}  // namespace wattle
