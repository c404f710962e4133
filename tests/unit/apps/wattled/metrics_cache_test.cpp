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

}  // namespace
}  // namespace wattle::daemon
