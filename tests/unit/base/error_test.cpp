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
  EXPECT_STREQ(
      WriteError("x", EFBIG).what(),
      "cannot write x: File too large, by the limit of the user or the disk; see ulimit -f");
  EXPECT_STREQ(WriteError("x", EIO).what(),
               "cannot write x: Input/output error of the disk; see dmesg");
  for (const int locked : {EBUSY, EWOULDBLOCK}) {
    EXPECT_STREQ(WriteError("x", locked).what(), "cannot write x: another process keeps it locked");
  }
}

TEST(Error, FormatErrorNamesTheFileAndWhatItHolds) {
  const FormatError error("x.csv", "a;b\n", "timestamp;tag");
  EXPECT_STREQ(error.what(),
               "will not write to x.csv: it starts with \"a;b\\x0a\" instead of "
               "\"timestamp;tag\"; name another file, or remove it");
  EXPECT_EQ(error.path(), "x.csv");
}

TEST(Error, NoSuchDomainNamesTheDomain) {
  const NoSuchDomain error("no domain dram_7 here", "dram_7");
  EXPECT_STREQ(error.what(), "no domain dram_7 here");
  EXPECT_EQ(error.domain_name(), "dram_7");
}

TEST(Error, EveryTypeIsCaughtAsWattlesOwn) {
  EXPECT_THROW(throw InvalidArgument("x"), Error);
  EXPECT_THROW(throw PermissionDenied("x", "y"), Error);
  EXPECT_THROW(throw WriteError("x", EIO), Error);
  EXPECT_THROW(throw FormatError("x", "y", "z"), Error);
  EXPECT_THROW(throw NoSuchDomain("x", "y"), Error);
  EXPECT_THROW(throw NoSuchDevice("x"), Error);
  EXPECT_THROW(throw NoSuchSample("x"), Error);
  EXPECT_THROW(throw CapabilityError("x"), Error);
  EXPECT_THROW(throw NotStarted("x"), Error);
  EXPECT_THROW(throw NotStopped("x"), Error);
  EXPECT_THROW(throw InconsistentSamples("x"), Error);
  EXPECT_THROW(throw NoSampleProcessed("x"), Error);
}

}  // namespace
}  // namespace wattle
