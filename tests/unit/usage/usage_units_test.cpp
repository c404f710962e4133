#include "usage/usage_units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wattle/error.hpp"

namespace wattle {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(UsageUnits, AreDecimal) {
  EXPECT_EQ(memory_factor("bytes", "RAM"), 1.0);
  EXPECT_EQ(memory_factor("kilobytes", "RAM"), 1e-3);
  EXPECT_EQ(memory_factor("megabytes", "RAM"), 1e-6);
  EXPECT_EQ(memory_factor("gigabytes", "RAM"), 1e-9);
  EXPECT_EQ(memory_factor("terabytes", "RAM"), 1e-12);
  EXPECT_EQ(time_factor("seconds"), 1.0);
  EXPECT_EQ(time_factor("minutes") * 60, 1.0);
  EXPECT_EQ(time_factor("hours") * 3600, 1.0);
  EXPECT_EQ(time_factor("days") * 86400, 1.0);
}

TEST(UsageUnits, ListTheValidOnesWhereOneIsMisspelt) {
  EXPECT_THAT([] { (void)memory_factor("milibytes", "GPU RAM"); },
              ThrowsMessage<InvalidArgument>(
                  "\"milibytes\" is not a valid GPU RAM unit. Valid values are bytes, gigabytes, "
                  "kilobytes, megabytes, terabytes"));
  EXPECT_THAT([] { (void)time_factor("Hours"); },
              ThrowsMessage<InvalidArgument>(HasSubstr("days, hours, minutes, seconds")));
  EXPECT_THAT([] { (void)memory_factor("", "RAM"); },
              ThrowsMessage<InvalidArgument>(HasSubstr("\"\"")));
}

}  // namespace
}  // namespace wattle
