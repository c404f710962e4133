#include "calibration/meter_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/text/split.hpp"

namespace wattle {
namespace {

using testing::HasSubstr;

MeterTable table_of(std::string_view text, MeterColumns columns = {}) {
  MeterTable table(std::move(columns));
  while (!text.empty()) table.take(take_line(text));
  return table;
}

TEST(MeterTable, ReadsUnixSecondsAndWatts) {
  const MeterTable table = table_of("time,power [W]\n1790000000.25,120.5\n1790000001.25,121\n");
  ASSERT_EQ(table.samples().size(), 2U);
  EXPECT_DOUBLE_EQ(table.samples()[0].time_s, 1790000000.25);
  EXPECT_DOUBLE_EQ(table.samples()[0].power_w, 120.5);
  EXPECT_FALSE(table.is_relative());
  EXPECT_EQ(table.column(), "power [W]");
}

TEST(MeterTable, ReadsMillisecondsMicrosecondsAndNanoseconds) {
  for (const char* time : {"1790000000250", "1790000000250000", "1790000000250000000"}) {
    const MeterTable table = table_of(std::string(time) + ",5\n");
    ASSERT_EQ(table.samples().size(), 1U) << time;
    EXPECT_NEAR(table.samples()[0].time_s, 1790000000.25, 1e-3) << time;
  }
}

TEST(MeterTable, ReadsDatesWithTimes) {
  const MeterTable whole = table_of("Timestamp,Watts\n2026-03-02T09:15:00.5+01:00,7\n");
  ASSERT_EQ(whole.samples().size(), 1U);
  EXPECT_DOUBLE_EQ(whole.samples()[0].time_s, 1772439300.5);
  const MeterTable split = table_of("Date,Time,Power\n2026-03-02,08:15:00.5,7\n");
  ASSERT_EQ(split.samples().size(), 1U);
  EXPECT_DOUBLE_EQ(split.samples()[0].time_s, 1772439300.5);
}

TEST(MeterTable, ReadsSecondsFromAnyStart) {
  const MeterTable table = table_of("t [ms],P (mW)\n0,5000\n10,6000\n");
  ASSERT_EQ(table.samples().size(), 2U);
  EXPECT_TRUE(table.is_relative());
  EXPECT_DOUBLE_EQ(table.samples()[1].time_s, 0.01);
  EXPECT_DOUBLE_EQ(table.samples()[1].power_w, 6.0);
}

TEST(MeterTable, KnowsUnitsInNamesAndAsOptions) {
  EXPECT_DOUBLE_EQ(table_of("time,power_mw\n1,5000\n").samples().at(0).power_w, 5.0);
  EXPECT_DOUBLE_EQ(table_of("time,load_kw\n1,5\n").samples().at(0).power_w, 5000.0);
  EXPECT_DOUBLE_EQ(table_of("1,5\n", {.unit = "kW"}).samples().at(0).power_w, 5000.0);
}

TEST(MeterTable, FindsThePowerAmongOtherColumns) {
  const MeterTable table = table_of("time,voltage [V],power [W],current [A]\n1,230,120,0.5\n");
  EXPECT_DOUBLE_EQ(table.samples().at(0).power_w, 120.0);
}

TEST(MeterTable, RefusesToChooseAmongPowers) {
  const std::string text = "time,PSU1 [W],PSU2 [W]\n1,120,130\n";
  const MeterTable table = table_of(text);
  EXPECT_THAT(table.problem(), HasSubstr("choose one with --column: PSU1 [W], PSU2 [W]"));
  EXPECT_TRUE(table.samples().empty());
  EXPECT_DOUBLE_EQ(table_of(text, {.power = "PSU2 [W]"}).samples().at(0).power_w, 130.0);
  EXPECT_DOUBLE_EQ(table_of(text, {.power = "psu2"}).samples().at(0).power_w, 130.0);
  EXPECT_DOUBLE_EQ(table_of(text, {.power = "2"}).samples().at(0).power_w, 120.0);
  EXPECT_THAT(table_of(text, {.power = "x"}).problem(), HasSubstr("there is no column x"));
  EXPECT_EQ(table_of("time,,b\n1,5,6\n2,5,6\n", {.power = "x"}).problem(),
            "there is no column x; there are 2, b");
  EXPECT_EQ(table_of("time\n1\n2\n", {.power = "x"}).problem(),
            "there is no column x; there is none beside the time");
}

TEST(MeterTable, RefusesAnUnknownUnit) {
  const MeterTable table = table_of("time,load [VA]\n1,120\n", {.power = "load"});
  EXPECT_THAT(table.problem(), HasSubstr("[VA]: the unit is unknown"));
}

TEST(MeterTable, RefusesDatesThatMayBeTwoDays) {
  const MeterTable table = table_of("time,power\n02/03/2026 10:00:00,120\n");
  EXPECT_EQ(table.bad_rows(), 1U);
  EXPECT_THAT(table.why_bad(), HasSubstr("may be two days"));
}

TEST(MeterTable, DoesNotMixKindsOfTimes) {
  const MeterTable table = table_of("1,120\n1790000000,121\n2,122\n");
  EXPECT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.bad_rows(), 1U);
}

TEST(MeterTable, SkipsCommentsAndMissingValues) {
  const MeterTable table = table_of("# by a logger\n# time,power\n1,120\n# pause\n2,-\n3,x\n");
  EXPECT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.bad_rows(), 2U);
}

}  // namespace
}  // namespace wattle
