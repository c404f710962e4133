#include "run_monitor/tables/cpu_table.hpp"

#include <gtest/gtest.h>

#include <string>

namespace wattle {
namespace {

constexpr const char* kTime = "2026-11-21T01:50:09.123+00:00";

/// `cells` behind a time.
CpuTable& operator<<(CpuTable& table, const std::string& cells) {
  table.take(kTime + cells);
  return table;
}

TEST(CpuTable, HasTheMeansOfItsColumns) {
  CpuTable table;
  table.take("timestamp,usr_pct,idle_pct");
  table << ",10.0,90.0"
        << ",20.0,[N/A]";
  table.take("timestamp,usr_pct,idle_pct");
  table << ",30.0,70.0";
  EXPECT_EQ(table.rows(), 3U);
  EXPECT_EQ(table.bad_rows(), 0U);
  EXPECT_EQ(table.usr_mean_pct(), 20.0);
  EXPECT_EQ(table.idle_mean_pct(), 80.0);
}

TEST(CpuTable, LeavesOutRowsThatAreNotWhole) {
  CpuTable table;
  table << ""
        << ",20.0"
        << ",20.0,80.0,5"
        << ",x,80.0"
        << ",20.02026-11-21,80.0"
        << ",101.0,80.0"
        << ",-1.0,80.0";
  table.take("cannot read /proc/stat, 1, 2");
  EXPECT_EQ(table.rows(), 0U);
  EXPECT_EQ(table.bad_rows(), 8U);
  EXPECT_FALSE(table.usr_mean_pct());
}

TEST(CpuTable, WeighsAPartialRowByItsLength) {
  CpuTable table;
  table.take("2026-11-21T00:00:01.000+00:00,0.0,100.0");
  table.take("2026-11-21T00:00:02.000+00:00,0.0,100.0");
  table.take("2026-11-21T00:00:02.005+00:00,50.0,50.0");
  EXPECT_NEAR(*table.usr_mean_pct(), 50.0 * 5 / 2005, 1e-9);
}

}  // namespace
}  // namespace wattle
