#include "service_manager.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "virtual_loop.hpp"

namespace wattle::daemon {
namespace {

TEST(ServiceManager, SurvivesAWatchdogThatIsShorterThanItCanServe) {
  // NOLINTBEGIN(concurrency-mt-unsafe): there is one thread
  ::setenv("WATCHDOG_USEC", "1", 1);
  VirtualLoop loop;
  const ServiceManager manager(loop);
  ::unsetenv("WATCHDOG_USEC");
  // NOLINTEND(concurrency-mt-unsafe)
  loop.advance(std::chrono::milliseconds(10));
  EXPECT_EQ(loop.timers(), 1U);
}

}  // namespace
}  // namespace wattle::daemon
