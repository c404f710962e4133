#include "usage/files/usage_units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wattle/error.hpp"

namespace wattle {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(UsageUnits, AreDecimal) {
  EXPECT_EQ(bytes_in("bytes", "RAM"), 1.0);
  EXPECT_EQ(bytes_in("kilobytes", "RAM"), 1e3);
  EXPECT_EQ(bytes_in("megabytes", "RAM"), 1e6);
  EXPECT_EQ(bytes_in("gigabytes", "RAM"), 1e9);
  EXPECT_EQ(bytes_in("terabytes", "RAM"), 1e12);
  EXPECT_EQ(seconds_in("seconds"), 1.0);
  EXPECT_EQ(seconds_in("minutes"), 60.0);
  EXPECT_EQ(seconds_in("hours"), 3600.0);
  EXPECT_EQ(seconds_in("days"), 86400.0);
}

TEST(UsageUnits, ListTheValidOnesWhereOneIsMisspelt) {
  EXPECT_THAT([] { (void)bytes_in("milibytes", "GPU RAM"); },
              ThrowsMessage<InvalidArgument>(
                  "\"milibytes\" is not a valid GPU RAM unit. Valid values are bytes, gigabytes, "
                  "kilobytes, megabytes, terabytes"));
  EXPECT_THAT([] { (void)seconds_in("Hours"); },
              ThrowsMessage<InvalidArgument>(HasSubstr("days, hours, minutes, seconds")));
  EXPECT_THAT([] { (void)bytes_in("", "RAM"); }, ThrowsMessage<InvalidArgument>(HasSubstr("\"\"")));
}

}  // namespace
}  // namespace wattle
