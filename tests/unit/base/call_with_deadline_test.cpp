#include "base/call_with_deadline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>

namespace wattle {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

constexpr auto kLong = 1h;

TEST(CallWithDeadline, GivesTheAnswersInTheirOrder) {
  const auto ask = [](std::size_t place, const auto&) { return static_cast<int>(10 * place); };
  EXPECT_THAT(call_with_deadline<int>(3, kLong, ask),
              ElementsAre(Optional(0), Optional(10), Optional(20)));
  EXPECT_THAT(call_with_deadline<int>(0, kLong, ask), IsEmpty());
}

TEST(CallWithDeadline, DoesNotWaitForOneThatFails) {
  const auto ask = [](std::size_t place, const auto&) {
    if (place == 0) throw std::runtime_error("none");
    return 1;
  };
  EXPECT_THAT(call_with_deadline<int>(2, kLong, ask), ElementsAre(std::nullopt, Optional(1)));
}

TEST(CallWithDeadline, AbandonsOneThatHangsAndReportsIt) {
  const auto go_on = std::make_shared<std::promise<void>>();
  const auto was_awaited = std::make_shared<std::promise<bool>>();
  const auto ask = [go_on, was_awaited](std::size_t place, const auto& is_awaited) {
    if (place == 0) {
      go_on->get_future().wait();
      was_awaited->set_value(is_awaited());
    }
    return 1;
  };
  EXPECT_THAT(call_with_deadline<int>(2, 200ms, ask), ElementsAre(std::nullopt, Optional(1)));
  go_on->set_value();
  EXPECT_FALSE(was_awaited->get_future().get());
}

}  // namespace
}  // namespace wattle
