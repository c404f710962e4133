// Each value that was read goes to the disk once, with what is not known of the time before it.
#include "history/value_collector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "fakes/scripted_sensor.hpp"
#include "fakes/wall_clock.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ValueCollectorTest : public testing::Test {
 protected:
  ~ValueCollectorTest() override { set_clock_by(0); }

  /// The value of the counter, or the gauge, `at` milliseconds after the start.
  void count(int at, std::uint64_t raw) {
    counter_.add({.at = begin_ + milliseconds(at), .raw = raw, .status = ReadStatus::ok});
  }
  void show(int at, std::uint64_t raw) {
    gauge_.add({.at = begin_ + milliseconds(at), .raw = raw, .status = ReadStatus::ok});
  }
  /// As the daemon does ten times a second.
  void set_clock_by(std::int64_t seconds) {
    fakes::set_wall_clock_off(seconds);
    (void)to_unix(TimePoint{});
    // Times of readings are rounded down: not to before the step.
    std::this_thread::sleep_for(milliseconds(1));
    begin_ = std::chrono::steady_clock::now();
  }
  std::vector<StoredValue> collect(const History& history, int at) {
    const auto collected =
        collector_.collect({{.device = "d", .history = &history}}, begin_ + milliseconds(at));
    if (collected.batch.channels.empty()) return {};
    return collected.batch.channels.front().values;
  }
  static std::vector<std::uint64_t> raws_of(const std::vector<StoredValue>& values) {
    std::vector<std::uint64_t> raws;
    for (const StoredValue& value : values) raws.push_back(value.raw);
    return raws;
  }
  static std::vector<bool> gaps_of(const std::vector<StoredValue>& values) {
    std::vector<bool> gaps;
    for (const StoredValue& value : values) gaps.push_back(value.has_gap);
    return gaps;
  }

  TimePoint begin_ = std::chrono::steady_clock::now();
  History counter_{fakes::counter_channel(Domain::package(0)), {}};
  History gauge_{{.domain = Domain::nvidia_gpu(0), .metric = Metric::power_instant}, {}};
  ValueCollector collector_;
};

TEST_F(ValueCollectorTest, TakesEachReadingOfACounterOnce) {
  count(0, 100);
  count(100, 200);
  EXPECT_THAT(raws_of(collect(counter_, 150)), testing::ElementsAre(0, 100));
  EXPECT_TRUE(collect(counter_, 160).empty());
  count(200, 300);
  EXPECT_THAT(raws_of(collect(counter_, 250)), testing::ElementsAre(200));
}

TEST_F(ValueCollectorTest, TheFirstValueHasAGapBeforeIt) {
  count(0, 100);
  count(100, 200);
  EXPECT_THAT(gaps_of(collect(counter_, 150)), testing::ElementsAre(true, false));
  count(200, 300);
  EXPECT_THAT(gaps_of(collect(counter_, 250)), testing::ElementsAre(false));
}

TEST_F(ValueCollectorTest, ACounterThatWasResetHasAGap) {
  count(0, 1000);
  count(100, 2000);
  count(200, 0);
  count(300, 1000);
  EXPECT_THAT(gaps_of(collect(counter_, 350)), testing::ElementsAre(true, false, true, false));
}

TEST_F(ValueCollectorTest, AResetBetweenTwoCallsIsSeen) {
  count(0, 1000);
  count(100, 2000);
  (void)collect(counter_, 150);
  count(200, 0);
  count(300, 1000);
  EXPECT_THAT(gaps_of(collect(counter_, 350)), testing::ElementsAre(true, false));
}

TEST_F(ValueCollectorTest, AGaugeIsWrittenForAsLongAsItWasConfirmed) {
  for (const int at : {0, 100, 200}) show(at, 50);
  const auto first = collect(gauge_, 250);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_NEAR(Seconds(first[0].last - first[0].first).count(), 0.2, 1e-3);
  for (const int at : {300, 400}) show(at, 50);
  show(500, 70);
  const auto second = collect(gauge_, 550);
  EXPECT_THAT(raws_of(second), testing::ElementsAre(50, 70));
  EXPECT_EQ(second[0].first, first[0].last);
  EXPECT_NEAR(Seconds(second[0].last - second[0].first).count(), 0.2, 1e-3);
}

TEST_F(ValueCollectorTest, AnInstantAtWhichTheWallClockIsSetIsAGap) {
  begin_ = std::chrono::steady_clock::now();
  count(0, 100);
  (void)collect(counter_, 10);
  set_clock_by(3600);
  count(0, 200);
  count(1, 300);
  const auto values = collect(counter_, 10);
  EXPECT_THAT(gaps_of(values), testing::ElementsAre(true, false));
}

TEST_F(ValueCollectorTest, AConstantGaugeIsSplitWhereTheWallClockIsSet) {
  for (const bool is_taken_between : {false, true}) {
    set_clock_by(0);
    collector_ = {};
    History gauge(gauge_.channel(), {});
    const auto show_now = [&] {
      gauge.add({.at = std::chrono::steady_clock::now(), .raw = 50, .status = ReadStatus::ok});
    };
    show_now();
    if (is_taken_between) (void)collect(gauge, 500);
    set_clock_by(3600);  // as a suspend does
    show_now();
    const auto values = collect(gauge, 1000);
    ASSERT_EQ(values.size(), 2U);
    EXPECT_TRUE(values[1].has_gap);
    for (const StoredValue& value : values) {
      EXPECT_LT(Seconds(value.last - value.first).count(), 1.0) << "nobody read it for an hour";
    }
    EXPECT_NEAR(Seconds(values[1].first - values[0].last).count(), 3600.0, 1.0);
  }
}

TEST_F(ValueCollectorTest, AConstantGaugeIsSplitWhereItIsUnknown) {
  for (const int at : {0, 100}) show(at, 50);
  gauge_.note_suspend();
  for (const int at : {250, 350}) show(at, 50);
  const auto values = collect(gauge_, 400);
  EXPECT_THAT(raws_of(values), testing::ElementsAre(50, 50));
  EXPECT_THAT(gaps_of(values), testing::ElementsAre(true, true));
  EXPECT_NEAR(Seconds(values[1].first - values[0].last).count(), 0.15, 1e-3);
}

TEST_F(ValueCollectorTest, AnUnknownTimeBetweenTwoCallsIsAGapInAConstantGauge) {
  for (const int at : {0, 100}) show(at, 50);
  (void)collect(gauge_, 150);
  gauge_.note_suspend();
  show(250, 50);
  const auto values = collect(gauge_, 400);
  ASSERT_FALSE(values.empty());
  EXPECT_TRUE(values.back().has_gap);
  EXPECT_NEAR(Seconds(values.back().last - values.back().first).count(), 0.0, 1e-3);
}

TEST_F(ValueCollectorTest, AWallClockThatIsSetBackEndsNothing) {
  set_clock_by(3600);
  count(0, 100);
  (void)collect(counter_, 10);
  set_clock_by(0);
  count(0, 200);
  const auto values = collect(counter_, 10);
  EXPECT_THAT(raws_of(values), testing::ElementsAre(100));
  EXPECT_THAT(gaps_of(values), testing::ElementsAre(true));
}

TEST_F(ValueCollectorTest, ValuesOfATimeThatIsStillToComeAreLeftOut) {
  set_clock_by(3600);
  count(0, 100);
  set_clock_by(0);
  count(0, 200);
  const auto values = collect(counter_, 10);
  EXPECT_THAT(raws_of(values), testing::ElementsAre(100));
  EXPECT_THAT(gaps_of(values), testing::ElementsAre(true));
}

TEST_F(ValueCollectorTest, BatchesWithValuesAreNumbered) {
  const std::vector<HistorySource> sources = {{.device = {}, .history = &counter_}};
  count(0, 100);
  EXPECT_EQ(collector_.collect(sources, begin_ + milliseconds(10)).batch.number, 0U);
  (void)collector_.collect(sources, begin_ + milliseconds(20));  // nothing
  count(100, 200);
  const auto last = collector_.collect(sources, begin_ + milliseconds(110));
  EXPECT_EQ(last.batch.number, 1U);
  EXPECT_TRUE(last.new_channels.empty());
}

}  // namespace
}  // namespace wattle::daemon
