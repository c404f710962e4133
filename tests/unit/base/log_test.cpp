#include "base/log.hpp"

#include <gtest/gtest.h>

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

TEST_F(LogTest, IsSilentWhileNobodyListens) { log("nobody hears this"); }

TEST_F(LogTest, GivesEachMessageToTheListener) {
  std::vector<std::string> heard;
  set_log([&](std::string_view message) { heard.emplace_back(message); });
  log("one");
  log("two");
  EXPECT_EQ(heard, (std::vector<std::string>{"one", "two"}));
}

TEST_F(LogTest, IsSilentAgainOnceTheListenerIsTakenAway) {
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
