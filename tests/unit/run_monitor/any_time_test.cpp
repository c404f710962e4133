#include "run_monitor/tables/any_time.hpp"

#include <gtest/gtest.h>

#include <string>

#include "run_monitor/tables/time_text.hpp"

namespace wattle {
namespace {

TEST(AnyTime, IsTheSameInEveryForm) {
  const std::int64_t truth = *parse_local_ms("2026/03/02 09:15:00.000");
  for (const char* text : {"2026/03/02 09:15:00.000",
                           "2026-03-02 09:15:00.000",
                           "2026-03-02T09:15:00.000",
                           "2026-03-02 09:15:00",
                           "2026-03-02 09:15",
                           "2026-03-02T09:15:00Z",
                           "2026-03-02 09:15:00.000000",
                           "2026-03-02 09:15:00,000",
                           "2026-03-02T09:15:00+00:00",
                           "2026-03-02 10:15:00+01:00",
                           "2026-03-02T04:15:00-0500",
                           "2026/3/2 9:15:00",
                           "20260302 09:15:00",
                           "20260302T09:15:00",
                           "02.03.2026 09:15:00",
                           "2.3.2026 9:15",
                           "2 Mar 2026 09:15:00",
                           "02-Mar-2026 09:15:00.0",
                           "Mon Mar  2 09:15:00 2026",
                           "Mon Mar  2 09:15:00 UTC 2026",
                           "Mon, 02 Mar 2026 09:15:00 GMT",
                           "2026-03-02 9:15:00 AM",
                           "1772442900",
                           "1772442900.000",
                           "1772442900000",
                           "1772442900000000",
                           "1772442900000000000"}) {
    EXPECT_EQ(parse_any_time_ms(text), truth) << text;
  }
  EXPECT_EQ(parse_any_time_ms("2026-03-02 09:15:00.1239"), truth + 123);
  EXPECT_EQ(parse_any_time_ms("2026-03-02 09:15:00.5"), truth + 500);
  EXPECT_EQ(parse_any_time_ms("2026-03-02 09:15:00 PM"), truth + 12 * 3'600'000);
  EXPECT_EQ(parse_any_time_ms("1772442900.25"), truth + 250);
}

TEST(AnyTime, HasADayAndAMonthWhereOneOfThemIsNone) {
  EXPECT_EQ(parse_any_time_ms("27/02/2026 09:15:00"), parse_any_time_ms("2026-02-27 09:15:00"));
  EXPECT_EQ(parse_any_time_ms("02/27/2026 09:15:00"), parse_any_time_ms("2026-02-27 09:15:00"));
  EXPECT_EQ(parse_any_time_ms("03/03/2026 09:15:00"), parse_any_time_ms("2026-03-03 09:15:00"));
  EXPECT_FALSE(is_ambiguous_date("27/02/2026 09:15:00"));
}

TEST(AnyTime, IsAbsentWhereTheDayMayBeTheMonth) {
  EXPECT_FALSE(parse_any_time_ms("02/03/2026 09:15:00"));
  EXPECT_TRUE(is_ambiguous_date("02/03/2026 09:15:00"));
}

TEST(AnyTime, IsNothingElse) {
  using namespace std::string_literals;
  for (const std::string& text : {""s,
                                  "x"s,
                                  "2026"s,
                                  "09:15:00"s,
                                  "2026-03-02"s,
                                  "2026-02-29 09:15:00"s,
                                  "2026-13-02 09:15:00"s,
                                  "2026-03-02 24:15:00"s,
                                  "2026-03-02 09:60:00"s,
                                  "2026-03-02 09:15:61"s,
                                  "2026-03-02 09:15:00."s,
                                  "2026-03-02 09:15:00 x"s,
                                  "2026-03-02 09:15:00+25:00"s,
                                  "2026-03/02 09:15:00"s,
                                  "1772442900.5x"s,
                                  "177244290"s,
                                  "2026-03-02 13:15:00 PM"s,
                                  "99999999 09:15:00"s,
                                  std::string(23, '\0'),
                                  std::string(17, '\0') + "09.123"}) {
    EXPECT_FALSE(parse_any_time_ms(text)) << text;
  }
}

TEST(TimeReader, ReadsTheTimesOfNvidiaSmi) {
  TimeReader times;
  for (const char* text : {"2026/11/21 01:50:09.123", "2026/11/21 01:50:59.999",
                           "2026/11/21 01:51:00.000", "2026/11/22 00:00:00.001"}) {
    EXPECT_EQ(times.read(text), parse_local_ms(text)) << text;
  }
  for (const char* text : {"2026/11/22 00:00:0x.001", "2026/11/22 00:00:61.001",
                           "2026/11/22 00:00:00,001", "2026/11/22 00:00:00.00"}) {
    EXPECT_FALSE(times.read(text)) << text;
  }
}

TEST(TimeReader, TakesNoOtherFormAfterThatOfNvidiaSmi) {
  TimeReader times;
  EXPECT_TRUE(times.read("2026-03-02 09:15:00"));
  EXPECT_TRUE(times.read("2026/03/02 09:15:00.000"));
  EXPECT_FALSE(times.read("2026/03/02 09:15:0")) << "it was cut off";
}

TEST(TimeReader, TakesNoBytesForAMinuteThatItHasNotSeen) {
  TimeReader times;
  EXPECT_FALSE(times.read(std::string(17, '\0') + "09.123"));
}

}  // namespace
}  // namespace wattle
