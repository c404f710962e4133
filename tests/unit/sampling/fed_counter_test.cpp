#include "sampling/counters/fed_counter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>

#include "known_history.hpp"
#include "sampling/integrate.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using testing::ElementsAre;
using testing::IsEmpty;

/// The power in W of each stretch of 25 ms.
using PowerOfSlot = std::function<std::uint64_t(std::uint64_t slot)>;

/// Another power in each stretch, from 200 to 400 W.
std::uint64_t restless(std::uint64_t slot) {
  std::uint64_t mixed = (slot + 1) * 0x9e3779b97f4a7c15ULL;
  mixed ^= mixed >> 29U;
  mixed *= 0xbf58476d1ce4e5b9ULL;
  return 200 + (mixed >> 32U) % 201;
}
std::uint64_t steady(std::uint64_t /*slot*/) { return 300; }
/// 400 W in the stretches that the gauge sees, 200 W in all others.
std::uint64_t hidden(std::uint64_t slot) { return slot % 4 == 3 ? 400 : 200; }

Channel millijoules(CounterFeed feed = CounterFeed::unknown) {
  return {.domain = Domain::nvidia_gpu(0),
          .counter = {.tick = Joules(1e-3), .max_power = Watts(5000.0), .feed = feed},
          .update = {.mean = 100ms, .spread = 1ms, .p99 = 103ms}};
}

Channel quarter_of_the_time() {
  Channel channel = whole_watts();
  channel.gauge.window = 25ms;
  channel.gauge.coverage = 0.25;
  return channel;
}

/// A gauge that sees the last 25 of each 100 ms, beside a counter; both are renewed at once.
class BothSensors {
 public:
  explicit BothSensors(const Channel& counter = millijoules(),
                       const Channel& gauge = quarter_of_the_time(), nanoseconds period = 100ms)
      : counter_(counter, {.period = period}), gauge_(gauge, {.period = period}) {}

  /// Reads both every `period`, the counter at each `every`th time.
  void read(bool is_fed, const PowerOfSlot& power, nanoseconds length, nanoseconds period = 100ms,
            std::int64_t every = 1) {
    std::uint64_t counted_mj = 0;
    std::uint64_t update = 0;
    for (std::int64_t i = 0; i * period <= length; ++i) {
      const nanoseconds at = 50ms + i * period;
      for (; static_cast<std::int64_t>(update) < at / 100ms; ++update) {
        shown_ = power(4 * update + 3);
        std::uint64_t sum_w = 0;
        for (std::uint64_t slot = 4 * update; slot < 4 * update + 4; ++slot) sum_w += power(slot);
        counted_mj += is_fed ? 100 * shown_ : 25 * sum_w;
      }
      gauge_.read(at, shown_);
      if (i % every == 0) counter_.read(at, counted_mj);
      end_ = kBegin + at;
    }
  }
  [[nodiscard]] FeedEvidence evidence() const { return feed_evidence(*counter_, *gauge_, end_); }
  [[nodiscard]] CounterFeed feed() const { return evidence().feed(); }
  /// What they say of all of it but the first 150 ms.
  [[nodiscard]] EnergyFigure energy() const {
    const History* const gauges[] = {&*gauge_};
    return domain_energy(&*counter_, gauges, {.begin = kBegin + 150ms, .end = end_});
  }
  [[nodiscard]] EnergyFigure counted() const {
    return counter_energy(*counter_, {.begin = kBegin + 150ms, .end = end_});
  }
  [[nodiscard]] EnergyFigure summed() const { return gauge_energy(*gauge_, kBegin + 150ms, end_); }
  /// The counter's figure with what is known of its feed.
  [[nodiscard]] EnergyFigure figure() const {
    EnergyFigure figure = counted();
    add_feed(figure, *counter_, *gauge_, summed(), end_);
    return figure;
  }

 private:
  KnownHistory counter_;
  KnownHistory gauge_;
  std::uint64_t shown_ = 300;
  TimePoint end_;
};

TEST(FedCounter, IsToldFromOneOfItsOwnByAnUnsteadyLoad) {
  for (const bool is_fed : {true, false}) {
    BothSensors both;
    both.read(is_fed, restless, 5s);
    EXPECT_EQ(both.feed(), is_fed ? CounterFeed::fed : CounterFeed::own);
  }
}

TEST(FedCounter, IsToldWhereItIsReadOnceASecond) {
  for (const bool is_fed : {true, false}) {
    BothSensors both;
    both.read(is_fed, restless, 20s, 100ms, 10);
    EXPECT_EQ(both.feed(), is_fed ? CounterFeed::fed : CounterFeed::own);
  }
}

TEST(FedCounter, IsToldByAReaderThatMeetsEachUpdateTwice) {
  for (const bool is_fed : {true, false}) {
    BothSensors both(millijoules(), quarter_of_the_time(), 50ms);
    both.read(is_fed, restless, 10s, 50ms);
    EXPECT_EQ(both.feed(), is_fed ? CounterFeed::fed : CounterFeed::own);
  }
}

TEST(FedCounter, IsNotToldByASteadyLoad) {
  for (const bool is_fed : {true, false}) {
    BothSensors both;
    both.read(is_fed, steady, 10s);
    EXPECT_EQ(both.feed(), CounterFeed::unknown);
    EXPECT_EQ(both.evidence().telling, 0.0);
  }
}

TEST(FedCounter, IsNotToldByALoadThatChangesOnce) {
  BothSensors both;
  both.read(
      false, [](std::uint64_t slot) { return slot < 130U ? 70U : 400U; }, 10s);
  EXPECT_EQ(both.feed(), CounterFeed::unknown);
}

TEST(FedCounter, IsNotToldByAFewSamples) {
  BothSensors both;
  both.read(true, restless, 300ms);
  EXPECT_EQ(both.feed(), CounterFeed::unknown);
  EXPECT_EQ(BothSensors().evidence().pieces, 0U);
}

TEST(FedCounter, IsNotToldWhereUpdatesOfTheGaugeWereNotRead) {
  BothSensors both(millijoules(), quarter_of_the_time(), 200ms);
  both.read(true, restless, 10s, 200ms);
  EXPECT_EQ(both.feed(), CounterFeed::unknown);
  EXPECT_EQ(both.evidence().pieces, 0U);
}

TEST(FedCounter, IsNoneWhereItShowsAnotherMeanThanTheGauge) {
  BothSensors both;
  both.read(false, hidden, 10s);
  EXPECT_EQ(both.feed(), CounterFeed::own) << "though the gauge's values are steady";
}

TEST(FedCounter, LooksAtTheLast300UpdatesAlone) {
  BothSensors both;
  both.read(true, restless, 100s);
  EXPECT_EQ(both.feed(), CounterFeed::fed);
  EXPECT_LE(both.evidence().pieces, 301U);
}

TEST(FedCounter, HasTheGaugesCoverageAndItsUncertaintyForTheRest) {
  BothSensors both;
  both.read(true, restless, 10s);
  const EnergyFigure figure = both.figure();
  EXPECT_EQ(figure.coverage, 0.25);
  EXPECT_THAT(names(figure.flags), ElementsAre("partial_coverage"));
  const double unseen_j = both.summed().unseen_uncertainty.si();
  EXPECT_GT(unseen_j, 0.0);
  EXPECT_DOUBLE_EQ(figure.uncertainty.si(), std::hypot(both.counted().uncertainty.si(), unseen_j));
  EXPECT_TRUE(both.energy().flags.has(Flag::partial_coverage));
}

TEST(FedCounter, OfItsOwnStaysAsItIs) {
  BothSensors both;
  both.read(false, restless, 10s);
  EXPECT_THAT(names(both.figure().flags), IsEmpty());
  EXPECT_EQ(both.figure().coverage, std::nullopt);
  EXPECT_EQ(both.figure().uncertainty, both.counted().uncertainty);
}

TEST(FedCounter, IsFlaggedWhereNothingTells) {
  BothSensors both;
  both.read(true, steady, 10s);
  EXPECT_THAT(names(both.figure().flags), ElementsAre("coverage_unknown"));
  EXPECT_THAT(names(both.energy().flags), ElementsAre("coverage_unknown"));
}

TEST(FedCounter, IsWhatIsKnownOfIt) {
  BothSensors own(millijoules(CounterFeed::own));
  own.read(true, restless, 10s);
  EXPECT_THAT(names(own.figure().flags), IsEmpty());
  BothSensors fed(millijoules(CounterFeed::fed));
  fed.read(false, steady, 10s);
  EXPECT_THAT(names(fed.figure().flags), ElementsAre("partial_coverage"));
  EXPECT_THAT(names(fed.counted().flags), ElementsAre("partial_coverage"))
      << "also without a gauge beside it";
}

TEST(FedCounter, IsNoQuestionBesideAGaugeThatSeesAllTheTime) {
  Channel gauge = quarter_of_the_time();
  gauge.gauge.window = 100ms;
  gauge.gauge.coverage = 1.0;
  BothSensors both(millijoules(), gauge);
  both.read(true, steady, 10s);
  EXPECT_THAT(names(both.figure().flags), IsEmpty());
}

TEST(FedCounter, IsNoQuestionInAWindowThatTheGaugeDoesNotShow) {
  BothSensors both;
  both.read(true, steady, 10s);
  EnergyFigure figure = both.counted();
  const KnownHistory silent(quarter_of_the_time());
  add_feed(figure, *KnownHistory(millijoules()), *silent, EnergyFigure{}, kBegin + 10s);
  EXPECT_THAT(names(figure.flags), IsEmpty());
}

}  // namespace
}  // namespace wattle
