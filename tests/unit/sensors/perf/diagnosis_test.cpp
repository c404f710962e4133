#include "sensors/perf/diagnosis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "fakes/temp_folder.hpp"

namespace wattle::perf {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(CapPerfmon, IsKnownSinceLinux58) {
  EXPECT_TRUE(knows_cap_perfmon("5.8.0"));
  EXPECT_TRUE(knows_cap_perfmon("5.10.0-30-amd64"));
  EXPECT_TRUE(knows_cap_perfmon("6.1"));
  EXPECT_FALSE(knows_cap_perfmon("5.7.19"));
  EXPECT_FALSE(knows_cap_perfmon("4.18.0-553.el8_10.x86_64"));
  EXPECT_FALSE(knows_cap_perfmon("3.10.0"));
}

TEST(CapPerfmon, IsTakenForKnownWhereTheReleaseIsNone) {
  for (const char* release : {"", "unknown", "5", "5.", ".8", "99999999999.1"}) {
    EXPECT_TRUE(knows_cap_perfmon(release)) << release;
  }
}

TEST(SystemCallFilter, IsTheSecondModeOfSeccomp) {
  EXPECT_TRUE(is_filtered("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n"));
  EXPECT_FALSE(is_filtered("Name:\tx\nSeccomp:\t0\nSeccomp_filters:\t0\n"));
  EXPECT_FALSE(is_filtered("Seccomp_filters:\t2\n"));
  EXPECT_FALSE(is_filtered(""));
}

/// A machine on which an event could not be opened.
class NotOpened : public testing::Test {
 protected:
  NotOpened() {
    folder_.write("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    folder_.write("proc/sys/kernel/perf_event_paranoid", "3\n");
    folder_.write("proc/self/status", "Seccomp:\t0\n");
    system_.procfs = folder_.path() / "proc";
  }
  [[nodiscard]] SensorRefusal because_of(int error, bool as_root = false) const {
    return not_opened(Domain::package(0), error, system_, as_root);
  }
  void filter_system_calls() { folder_.write("proc/self/status", "Seccomp:\t2\n"); }

  fakes::TempFolder folder_;
  System system_;
};

TEST_F(NotOpened, ForUsersNamesTheCommandThatHelps) {
  for (const int error : {EACCES, EPERM}) {
    const SensorRefusal refused = because_of(error);
    EXPECT_EQ(refused.subject, "package_0");
    EXPECT_EQ(refused.domain, Domain::package(0));
    EXPECT_THAT(refused.reason, HasSubstr("only privileged processes"));
    EXPECT_THAT(refused.proof, HasSubstr("kernel.perf_event_paranoid is 3"));
    EXPECT_THAT(refused.proof, HasSubstr("Linux 6.1.0-18-amd64"));
    EXPECT_EQ(refused.remedy, "wattle doctor --fix cpu prints the commands that allow it");
    EXPECT_THAT(refused.risk, HasSubstr("PLATYPUS"));
  }
}

TEST_F(NotOpened, ForTheRootOfAContainerNamesTheContainer) {
  const SensorRefusal refused = because_of(EACCES, true);
  EXPECT_THAT(refused.reason, HasSubstr("root of this container"));
  EXPECT_THAT(refused.remedy, HasSubstr("docker run -v /run/wattled:/run/wattled"));
}

TEST_F(NotOpened, UnderAFilterNamesTheFilter) {
  filter_system_calls();
  for (const int error : {EPERM, ENOSYS}) {
    for (const bool as_root : {false, true}) {
      const SensorRefusal refused = because_of(error, as_root);
      EXPECT_THAT(refused.reason, HasSubstr("seccomp"));
      EXPECT_THAT(refused.proof, HasSubstr("Seccomp: 2"));
      EXPECT_THAT(refused.remedy, HasSubstr("docker run -v /run/wattled:/run/wattled"));
    }
  }
}

TEST_F(NotOpened, UnderAFilterThatLetTheCallPassNamesTheKernelsRule) {
  filter_system_calls();
  EXPECT_THAT(because_of(EACCES).reason, HasSubstr("only privileged processes"));
}

TEST_F(NotOpened, WithoutTheSystemCallSaysSo) {
  EXPECT_THAT(because_of(ENOSYS).reason, HasSubstr("built without perf_event_open"));
}

TEST_F(NotOpened, ForLackOfDescriptorsNamesTheLimit) {
  EXPECT_THAT(because_of(EMFILE).remedy, HasSubstr("ulimit -n"));
}

TEST_F(NotOpened, ForAnotherCauseSaysThat) {
  const SensorRefusal refused = because_of(EINVAL);
  EXPECT_EQ(refused.reason, "the kernel does not count this event: Invalid argument");
  EXPECT_THAT(refused.remedy, IsEmpty());
}

TEST_F(NotOpened, SaysUnknownWhereProcfsIsMissing) {
  system_.procfs = folder_.path() / "nowhere";
  EXPECT_THAT(because_of(EACCES).proof, HasSubstr("perf_event_paranoid is unknown"));
}

TEST_F(NotOpened, EscapesControlCharacters) {
  folder_.write("proc/sys/kernel/perf_event_paranoid", "\x1b[2J\n");
  EXPECT_THAT(because_of(EACCES).proof, HasSubstr(R"(is \x1b[2J)"));
}

}  // namespace
}  // namespace wattle::perf
