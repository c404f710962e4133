#include "wattle/system.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace wattle {
namespace {

class SystemFromEnvironment : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void clear() {
    for (const char* name : {"WATTLE_SYSFS", "WATTLE_PROCFS", "WATTLE_SOCK_PATH", "ZEUSD_SOCK_PATH",
                             "WATTLE_TOKEN", "ZEUSD_TOKEN"}) {
      ::unsetenv(name);
    }
  }
};

TEST_F(SystemFromEnvironment, IsTheMachinesOwnByDefault) {
  const System system = System::from_environment();
  EXPECT_EQ(system.sysfs, "/sys");
  EXPECT_EQ(system.procfs, "/proc");
}

TEST_F(SystemFromEnvironment, TakesEachRootThatIsNamed) {
  ::setenv("WATTLE_SYSFS", "/host/sys", 1);
  EXPECT_EQ(System::from_environment().sysfs, "/host/sys");
  EXPECT_EQ(System::from_environment().procfs, "/proc");
  ::setenv("WATTLE_PROCFS", "/host/proc", 1);
  EXPECT_EQ(System::from_environment().procfs, "/host/proc");
}

TEST_F(SystemFromEnvironment, IgnoresAnEmptyName) {
  ::setenv("WATTLE_SYSFS", "", 1);
  EXPECT_EQ(System::from_environment().sysfs, "/sys");
}

TEST_F(SystemFromEnvironment, AsksWattledOnThisMachineByDefault) {
  EXPECT_EQ(System::from_environment().daemon_socket, "/run/wattled/wattled.sock");
  EXPECT_EQ(System::from_environment().daemon_token, "");
}

TEST_F(SystemFromEnvironment, AsksTheDaemonThatIsNamedAndOursBeforeZeusd) {
  ::setenv("ZEUSD_SOCK_PATH", "/run/zeusd/zeusd.sock", 1);
  ::setenv("ZEUSD_TOKEN", "z", 1);
  EXPECT_EQ(System::from_environment().daemon_socket, "/run/zeusd/zeusd.sock");
  EXPECT_EQ(System::from_environment().daemon_token, "z");
  ::setenv("WATTLE_SOCK_PATH", "/tmp/w.sock", 1);
  ::setenv("WATTLE_TOKEN", "w", 1);
  EXPECT_EQ(System::from_environment().daemon_socket, "/tmp/w.sock");
  EXPECT_EQ(System::from_environment().daemon_token, "w");
}

TEST_F(SystemFromEnvironment, AsksNoDaemonWhereThatIsSaid) {
  ::setenv("ZEUSD_SOCK_PATH", "/run/zeusd/zeusd.sock", 1);
  ::setenv("WATTLE_SOCK_PATH", "none", 1);
  EXPECT_EQ(System::from_environment().daemon_socket, "");
}

}  // namespace
}  // namespace wattle
