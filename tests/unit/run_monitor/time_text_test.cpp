#include "run_monitor/tables/time_text.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <string>

namespace wattle {
namespace {

TEST(TimeText, OfUtcHasAZone) {
  EXPECT_EQ(utc_text(1763690000.1239), "2025-11-21T01:53:20.123+00:00");
  EXPECT_EQ(utc_text(0.0), "1970-01-01T00:00:00.000+00:00");
}

TEST(TimeText, OfTheLocalZoneIsWrittenAsNvidiaSmiDoes) {
  // NOLINTBEGIN(concurrency-mt-unsafe): one thread
  ::setenv("TZ", "XYZ-2", 1);
  ::tzset();
  EXPECT_EQ(local_text(1763690000.1239), "2025/11/21 03:53:20.123");
  ::unsetenv("TZ");
  ::tzset();
  // NOLINTEND(concurrency-mt-unsafe)
}

TEST(TimeText, IsReadBack) {
  EXPECT_EQ(parse_utc_ms(utc_text(1763689809.5)), 1763689809500);
  for (const char* text : {"", "2026-11-21T01:50:09.123", "2026-11-21 01:50:09.123+00:00",
                           "2026-13-21T01:50:09.123+00:00", "2026-11-21T01:50:0x.123+00:00",
                           "2026-11-21T01:50:09.123+01:00"}) {
    EXPECT_EQ(parse_utc_ms(text), std::nullopt) << text;
  }
}

TEST(TimeText, OfTheLocalZoneIsMillisecondsOfAnyDay) {
  const auto before = parse_local_ms("2024/02/28 23:59:59.999");
  const auto after = parse_local_ms("2024/02/29 00:00:00.000");
  ASSERT_TRUE(before && after);
  EXPECT_EQ(*after - *before, 1);
  EXPECT_EQ(parse_local_ms("1970/01/02 00:00:01.002"), 86'401'002);
}

TEST(TimeText, OfTheLocalZoneIsNothingElse) {
  for (const std::string text :
       {"", "2026/11/21 01:50:09", "2026-11-21 01:50:09.123", "2026/02/29 01:50:09.123",
        "2026/13/01 01:50:09.123", "2026/11/21 24:50:09.123", "2026/11/21 01:60:09.123",
        "2026/11/21 01:50:61.123", "2026/11/21 01:50:09,123", "2026/11/21 01:50:0x.123",
        "2026/11/21T01:50:09.123", "2026/11/21 01:50:09.1234"}) {
    EXPECT_FALSE(parse_local_ms(text)) << text;
  }
}

}  // namespace
}  // namespace wattle
