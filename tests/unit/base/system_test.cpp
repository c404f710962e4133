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
    ::unsetenv("WATTLE_SYSFS");
    ::unsetenv("WATTLE_PROCFS");
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

}  // namespace
}  // namespace wattle
