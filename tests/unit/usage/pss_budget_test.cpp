#include <gtest/gtest.h>

#include "usage/tree/pss_record.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
const TimePoint kBegin{1h};

TEST(PssBudget, ExpectsTheMostThatWasSeenOfAnyMachine) {
  const PssBudget budget(PssPolicy::budget, kBegin);
  EXPECT_GE(budget.expected(kGiB), 24ms);
  EXPECT_LE(budget.expected(kGiB), 26ms);
  EXPECT_GT(budget.expected(UINT64_MAX), 1s) << "and does not wrap around";
}

TEST(PssBudget, LearnsWhatAReadingCosts) {
  PssBudget budget(PssPolicy::budget, kBegin);
  for (int i = 0; i < 10; ++i) budget.spend({.time = 5ms, .rss_bytes = kGiB});
  EXPECT_LE(budget.expected(kGiB), 6ms);
  EXPECT_FALSE(budget.is_too_large(10 * kGiB));
  for (int i = 0; i < 10; ++i) budget.spend({.time = 40ms, .rss_bytes = kGiB});
  EXPECT_GE(budget.expected(kGiB), 39ms);
  EXPECT_TRUE(budget.is_too_large(3 * kGiB));
}

TEST(PssBudget, DoesNotTakeHugePagesOfOneForThoseOfAll) {
  PssBudget budget(PssPolicy::budget, kBegin);
  for (int i = 0; i < 20; ++i) budget.spend({.time = 50us, .rss_bytes = 10 * kGiB});
  EXPECT_TRUE(budget.is_too_large(64 * kGiB)) << "another process, in small pages";
  EXPECT_FALSE(budget.is_too_large(64 * kGiB, PssCost{.time = 400us, .rss_bytes = 64 * kGiB}));
}

TEST(PssBudget, KnowsAProcessByItsLastReading) {
  const PssBudget budget(PssPolicy::budget, kBegin);
  const PssCost last{.time = 10ms, .rss_bytes = kGiB};
  EXPECT_EQ(budget.expected(kGiB, last), 10ms);
  EXPECT_EQ(budget.expected(kGiB / 2, last), 10ms) << "its tables may be as large as before";
  EXPECT_NEAR(static_cast<double>(budget.expected(3 * kGiB, last).count()), 30e6, 1e6);
}

TEST(PssBudget, LeavesOutWhatWouldTakeTooLongAtOnce) {
  const PssBudget budget(PssPolicy::budget, kBegin);
  EXPECT_FALSE(budget.is_too_large(3 * kGiB));
  EXPECT_TRUE(budget.is_too_large(4 * kGiB + kGiB / 100));
  EXPECT_FALSE(budget.allows(5 * kGiB));
}

TEST(PssBudget, SpendsOnePercentOfTheTime) {
  PssBudget budget(PssPolicy::budget, kBegin);
  budget.spend({.time = PssBudget::kLongest});
  EXPECT_FALSE(budget.allows(kGiB));
  budget.advance(kBegin + 2400ms);
  EXPECT_FALSE(budget.allows(kGiB)) << "24 ms so far";
  budget.advance(kBegin + 2600ms);
  EXPECT_TRUE(budget.allows(kGiB));
}

TEST(PssBudget, SavesUpNoMoreThanOneLongReading) {
  PssBudget budget(PssPolicy::budget, kBegin);
  budget.advance(kBegin + 1h);
  budget.spend({.time = PssBudget::kLongest});
  EXPECT_FALSE(budget.allows(0));
}

TEST(PssBudget, HasTimeForOldFiguresWhileHalfOfItIsLeft) {
  PssBudget budget(PssPolicy::budget, kBegin);
  EXPECT_TRUE(budget.has_spare());
  budget.spend({.time = 51ms});
  EXPECT_FALSE(budget.has_spare());
}

TEST(PssBudget, IsNoneWhereItIsForced) {
  PssBudget budget(PssPolicy::force, kBegin);
  budget.spend({.time = 1h});
  EXPECT_FALSE(budget.is_too_large(100 * kGiB));
  EXPECT_TRUE(budget.allows(100 * kGiB));
}

TEST(PssBudget, CanBeNothingAtAll) { EXPECT_FALSE(PssBudget(PssPolicy::never, kBegin).allows(1)); }

}  // namespace
}  // namespace wattle
