#include "base/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "wattle/error.hpp"

namespace wattle {
namespace {

class LogTest : public testing::Test {
 protected:
  ~LogTest() override { set_log({}); }
};

TEST(LogDeathTest, PrintsEachMessageOnceUntilALogIsSet) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process in which no log was set
  const auto print = [] {
    log("one");
    log("one");
    log("two");
    set_log({});
    log("three");
    ::_exit(0);
  };
  EXPECT_EXIT(print(), testing::ExitedWithCode(0), testing::Eq("wattle: one\nwattle: two\n"));
}

TEST(LogDeathTest, PrintsNoMoreThanAHundredMessages) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto print = [] {
    for (int i = 0; i < 150; ++i) log("message " + std::to_string(i));
    ::_exit(0);
  };
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  EXPECT_EXIT(print(), testing::ExitedWithCode(0), testing::ResultOf(lines, 100));
}

TEST(LogDeathTest, SurvivesAClosedStderr) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto print = [] {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) ::_exit(1);
    ::close(ends[0]);
    ::dup2(ends[1], STDERR_FILENO);
    log("one");
    ::_exit(0);
  };
  EXPECT_EXIT(print(), testing::ExitedWithCode(0), "");
}

TEST_F(LogTest, GivesEachMessageToTheListener) {
  std::vector<std::string> heard;
  set_log([&](std::string_view message) { heard.emplace_back(message); });
  log("one");
  log("two");
  EXPECT_EQ(heard, (std::vector<std::string>{"one", "two"}));
}

TEST_F(LogTest, IsSilentOnceTheListenerIsTakenAway) {
  int heard = 0;
  set_log([&](std::string_view) { ++heard; });
  set_log({});
  log("nobody hears this");
  EXPECT_EQ(heard, 0);
}

TEST_F(LogTest, OutlivesAListenerThatThrows) {
  set_log([](std::string_view) { throw std::runtime_error("broken listener"); });
  log("one");
  int heard = 0;
  set_log([&](std::string_view) { ++heard; });
  log("two");
  EXPECT_EQ(heard, 1);
}

TEST_F(LogTest, CallsTheListenerByOneThreadAtATime) {
  int heard = 0;  // not atomic: ThreadSanitizer would see two callers
  set_log([&](std::string_view) { ++heard; });
  constexpr int kEach = 1000;
  const auto talk = [] {
    for (int i = 0; i < kEach; ++i) log("x");
  };
  std::thread other(talk);
  talk();
  other.join();
  EXPECT_EQ(heard, 2 * kEach);
}

}  // namespace
}  // namespace wattle
