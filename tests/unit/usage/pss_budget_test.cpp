#include "usage/pss_budget.hpp"

#include <gtest/gtest.h>

namespace wattle {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
const TimePoint kBegin{1h};

TEST(PssBudget, ExpectsFiveMillisecondsAGibibyte) {
  EXPECT_GE(PssBudget::expected(kGiB), 5ms);
  EXPECT_LE(PssBudget::expected(kGiB), 5100us);
  EXPECT_GT(PssBudget::expected(UINT64_MAX), 1s) << "and does not wrap around";
}

TEST(PssBudget, LeavesOutWhatWouldTakeTooLongAtOnce) {
  const PssBudget budget(PssPolicy::budget, kBegin);
  EXPECT_FALSE(budget.is_too_large(3 * kGiB));
  EXPECT_TRUE(budget.is_too_large(4 * kGiB + kGiB / 100));
  EXPECT_FALSE(budget.allows(5 * kGiB));
}

TEST(PssBudget, SpendsOnePercentOfTheTime) {
  PssBudget budget(PssPolicy::budget, kBegin);
  budget.spend(PssBudget::kLongest);
  EXPECT_FALSE(budget.allows(kGiB));
  budget.advance(kBegin + 500ms);
  EXPECT_FALSE(budget.allows(kGiB)) << "5 ms so far";
  budget.advance(kBegin + 600ms);
  EXPECT_TRUE(budget.allows(kGiB));
}

TEST(PssBudget, SavesUpNoMoreThanOneLongReading) {
  PssBudget budget(PssPolicy::budget, kBegin);
  budget.advance(kBegin + 1h);
  budget.spend(PssBudget::kLongest);
  EXPECT_FALSE(budget.allows(0));
}

TEST(PssBudget, IsNoneWhereItIsForced) {
  PssBudget budget(PssPolicy::force, kBegin);
  budget.spend(1h);
  EXPECT_FALSE(budget.is_too_large(100 * kGiB));
  EXPECT_TRUE(budget.allows(100 * kGiB));
}

TEST(PssBudget, CanBeNothingAtAll) { EXPECT_FALSE(PssBudget(PssPolicy::never, kBegin).allows(1)); }

}  // namespace
}  // namespace wattle
