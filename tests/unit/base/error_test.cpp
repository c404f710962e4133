#include "wattle/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace wattle {
namespace {

TEST(Error, PermissionDeniedNamesThePathAndTheRemedy) {
  const PermissionDenied error("/sys/x/energy_uj", "run as root");
  EXPECT_STREQ(error.what(), "cannot read /sys/x/energy_uj: permission denied; run as root");
  EXPECT_EQ(error.path(), "/sys/x/energy_uj");
  EXPECT_EQ(error.remedy(), "run as root");
}

TEST(Error, WriteErrorNamesThePathAndTheCause) {
  const WriteError error("/dev/full", ENOSPC);
  EXPECT_STREQ(error.what(), "cannot write /dev/full: No space left on device");
  EXPECT_EQ(error.path(), "/dev/full");
  EXPECT_EQ(error.error_number(), ENOSPC);
}

TEST(Error, EveryTypeIsCaughtAsWattlesOwn) {
  EXPECT_THROW(throw InvalidArgument("x"), Error);
  EXPECT_THROW(throw PermissionDenied("x", "y"), Error);
  EXPECT_THROW(throw WriteError("x", EIO), Error);
}

}  // namespace
}  // namespace wattle
