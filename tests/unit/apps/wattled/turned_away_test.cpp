#include "http/turned_away.hpp"

#include <gtest/gtest.h>

namespace wattle::daemon {
namespace {

using std::chrono::seconds;

TEST(TurnedAwayCounts, AreLoggedAtOnceAndThenRarely) {
  TurnedAwayCounts counts;
  TimePoint now{};
  EXPECT_FALSE(counts.news(now));
  counts.count(TurnedAway::full);
  EXPECT_EQ(counts.news(now), "turned clients away: 1 (all places are taken)");
  counts.count(TurnedAway::full);
  counts.count(TurnedAway::full);
  counts.count(TurnedAway::unread);
  EXPECT_FALSE(counts.news(now + seconds(9)));
  EXPECT_EQ(counts.news(now + seconds(10)),
            "turned clients away: 2 (all places are taken), 1 (answers that were not read)");
  EXPECT_FALSE(counts.news(now + seconds(100)));
  EXPECT_EQ(counts[TurnedAway::full], 3U);
  EXPECT_EQ(counts[TurnedAway::token], 0U);
}

}  // namespace
}  // namespace wattle::daemon
