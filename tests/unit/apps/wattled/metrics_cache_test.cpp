#include "api/metrics_cache.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace wattle::daemon {
namespace {

using std::chrono::seconds;

constexpr TimePoint at(int second) { return TimePoint(seconds(second)); }

TEST(MetricsCache, HasTheLastAnswerForAsLongAsTheCallerTakesIt) {
  MetricsCache cache;
  EXPECT_EQ(cache.find({}, at(0)), nullptr);
  cache.keep({}, at(10), "a");
  cache.keep({}, at(12), "b");
  const std::string* const found = cache.find({}, at(11));
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(*found, "b");
  EXPECT_EQ(cache.find({}, at(12)), nullptr) << "this caller takes no other's answer";
  EXPECT_EQ(cache.find({}, at(13)), nullptr);
}

TEST(MetricsCache, GivesNobodyTheAnswerToACallerWithOtherRights) {
  MetricsCache cache;
  const MetricsCache::Kind exact{.has_units = true, .has_shares = true};
  cache.keep(exact, at(10), "exact");
  for (const MetricsCache::Kind& other :
       {MetricsCache::Kind{.is_coarse = true, .has_units = true, .has_shares = true},
        MetricsCache::Kind{.has_units = true}, MetricsCache::Kind{.has_shares = true},
        MetricsCache::Kind{
            .format = MetricsFormat::open_metrics, .has_units = true, .has_shares = true}}) {
    EXPECT_EQ(cache.find(other, at(0)), nullptr);
  }
  EXPECT_NE(cache.find(exact, at(0)), nullptr);
}

TEST(AnswerCache, ForgetsTheOldestAnswer) {
  AnswerCache<int> cache(2);
  cache.keep(1, at(10), "a");
  cache.keep(2, at(11), "b");
  cache.keep(1, at(12), "c");
  cache.keep(3, at(13), "d");
  EXPECT_EQ(cache.find(2, at(0)), nullptr);
  ASSERT_NE(cache.find(1, at(0)), nullptr);
  EXPECT_EQ(*cache.find(1, at(0)), "c");
  EXPECT_NE(cache.find(3, at(0)), nullptr);
}

TEST(AcceptedAge, IsThatOfTheQueryAndAMinuteAtMost) {
  EXPECT_EQ(accepted_age("max_age=2"), seconds(2));
  EXPECT_EQ(accepted_age("from=1&to=2&max_age=5"), seconds(5));
  EXPECT_EQ(accepted_age("max_age=99999"), seconds(60));
  for (const char* none : {"", "amax_age=3", "max_age_s=x", "from=1&&to=2", "x=max_age=y"}) {
    EXPECT_EQ(accepted_age(none), seconds(0)) << none;
  }
}

TEST(AcceptedAge, IsAWholeNumber) {
  for (const char* query : {"max_age", "max_age=", "max_age=-1", "max_age=x", "max_age=1.5",
                            "from=1&max_age=%32", "max_age=99999999999999999999"}) {
    EXPECT_THROW((void)accepted_age(query), QueryFault) << query;
  }
}

}  // namespace
}  // namespace wattle::daemon
