#include "energy/running_window.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

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

}  // namespace
}  // namespace wattle::detail
