#include "energy/running_window.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "energy/metered_machine.hpp"
#include "wattle/energy_meter.hpp"
#include "wattle/error.hpp"

namespace wattle::detail {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// What is logged meanwhile. The report comes once in a process, so the order of these tests is
/// that of what must not be reported first.
class RunningWindowTest : public testing::Test {
 protected:
  RunningWindowTest() {
    set_log([this](std::string_view message) { messages_.emplace_back(message); });
  }
  ~RunningWindowTest() override { set_log(nullptr); }
  std::vector<std::string> messages_;
};

TEST_F(RunningWindowTest, IsReportedOnceWhereThoseOfTwoThreadsOverlap) {
  RunningWindow outer;
  RunningWindow inner;
  outer.start();
  inner.start();
  inner.end();
  EXPECT_THAT(messages_, IsEmpty()) << "one thread's may lie in each other";
  outer.end();
  std::thread([] {
    RunningWindow later;
    later.start();
  }).join();
  outer.start();
  EXPECT_THAT(messages_, IsEmpty()) << "one after the other";
  RunningWindow moved;
  std::thread([&] { outer.end(); }).join();
  std::thread([&] { moved.start(); }).join();
  EXPECT_THAT(messages_, IsEmpty()) << "ended by another thread";
  moved.end();

  outer.start();
  for (int i = 0; i < 2; ++i) {
    std::thread([] {
      RunningWindow beside;
      beside.start();
    }).join();
  }
  ASSERT_THAT(messages_, SizeIs(1));
  EXPECT_THAT(messages_.front(), HasSubstr("windows of several threads overlap"));
  EXPECT_THAT(messages_.front(), HasSubstr("energy of the whole machine"));
}

/// The exit status of a process in which the meters of three threads run at the same time: 0 if
/// that was logged once.
int status_of_three_threads() {
  static std::vector<std::string> messages;
  set_log([](std::string_view message) { messages.emplace_back(message); });
  tests::MeteredMachine machine;
  EnergyMeter meter = machine.draws(Domain::package(0), Watts(100.0)).meter();
  EnergyMeter beside = meter.another();
  EnergyMeter also_beside = meter.another();
  meter.start("work");
  for (EnergyMeter* const other : {&beside, &also_beside}) {
    std::thread([&] { other->start("beside"); }).join();
  }
  const bool is_right =
      messages.size() == 1 && messages[0].starts_with("windows of several threads overlap");
  return is_right ? 0 : 1;
}

// In a process of its own, since the report comes once.
TEST(EnergyMetersDeathTest, LogOnceThatWindowsOfSeveralThreadsOverlap) {
  EXPECT_EXIT(std::_Exit(status_of_three_threads()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace wattle::detail
