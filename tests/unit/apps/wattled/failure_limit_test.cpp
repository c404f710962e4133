#include "auth/failure_limit.hpp"

#include <gtest/gtest.h>

#include <string>

namespace wattle::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const TimePoint kStart{seconds(1000)};

constexpr std::uint32_t kBurst = 20;

/// How many of 100 failures at once are admitted.
unsigned admitted(FailureLimit& limit, std::string_view peer, TimePoint now) {
  unsigned count = 0;
  for (int i = 0; i < 100; ++i) count += limit.admit(peer, now) ? 1U : 0U;
  return count;
}

TEST(FailureLimit, AdmitsABurst) {
  FailureLimit limit(kBurst);
  EXPECT_EQ(admitted(limit, "a", kStart), kBurst);
}

TEST(FailureLimit, AdmitsOneMoreEachSecond) {
  FailureLimit limit(kBurst);
  (void)admitted(limit, "a", kStart);
  EXPECT_FALSE(limit.admit("a", kStart + milliseconds(999)));
  EXPECT_TRUE(limit.admit("a", kStart + seconds(1)));
  EXPECT_FALSE(limit.admit("a", kStart + seconds(1)));
  EXPECT_EQ(admitted(limit, "a", kStart + seconds(8)), 7U);
}

TEST(FailureLimit, AdmitsNoMoreThanABurstAfterALongRest) {
  FailureLimit limit(kBurst);
  (void)admitted(limit, "a", kStart);
  EXPECT_EQ(admitted(limit, "a", kStart + seconds(100'000)), kBurst);
}

TEST(FailureLimit, IsOfEachPeer) {
  FailureLimit limit(kBurst);
  (void)admitted(limit, "a", kStart);
  EXPECT_EQ(admitted(limit, "b", kStart), kBurst);
}

TEST(FailureLimit, CountsWhatItDoesNotAdmit) {
  FailureLimit limit(kBurst);
  (void)admitted(limit, "a", kStart);
  EXPECT_EQ(limit.take_suppressed(), 100U - kBurst);
  EXPECT_EQ(limit.take_suppressed(), 0U);
}

TEST(FailureLimit, RemembersABoundedNumberOfPeers) {
  FailureLimit limit(kBurst);
  (void)limit.admit("first", kStart);
  for (std::size_t i = 0; i < FailureLimit::kMaxPeers; ++i) {
    (void)limit.admit(std::to_string(i), kStart);
    (void)limit.admit(std::to_string(i), kStart);
  }
  EXPECT_EQ(admitted(limit, "first", kStart), kBurst) << "its failure is forgotten";
}

TEST(FailureLimit, ForgetsTheWorstPeerLast) {
  FailureLimit limit(kBurst);
  (void)admitted(limit, "worst", kStart);
  for (std::size_t i = 0; i < 3 * FailureLimit::kMaxPeers; ++i) {
    (void)limit.admit(std::to_string(i), kStart);
  }
  EXPECT_FALSE(limit.admit("worst", kStart));
}

}  // namespace
}  // namespace wattle::daemon
