#include "base/terminate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "wattle/error.hpp"

namespace wattle {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

[[noreturn]] void throw_together(std::barrier<>& both) {
  both.arrive_and_wait();
  throw NoSuchDevice("no sensor was found");
}

void end_by_two_threads() {
  std::barrier both(2);
  std::jthread other([&] { throw_together(both); });
  throw_together(both);
}

TEST(UncaughtExceptionsDeathTest, OfTwoThreadsEndTheProgramWithTheMessage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EXIT(std::thread(end_by_two_threads).join(), testing::KilledBySignal(SIGABRT),
                AllOf(HasSubstr("no sensor was found"), Not(HasSubstr("recursively"))));
  }
}

}  // namespace
}  // namespace wattle
