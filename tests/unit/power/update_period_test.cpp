#include "power/update_period.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/gated_sensor.hpp"
#include "fakes/nvml/control.hpp"
#include "heard_log.hpp"
#include "played_machine.hpp"
#include "power/power_domain.hpp"
#include "power/watched_sensor.hpp"
#include "sampling/recorder.hpp"
#include "wattle/error.hpp"

namespace wattle::power_test {
namespace {

using std::chrono::nanoseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ModelPace every(nanoseconds gap) { return {.gives_power = true, .gap = gap}; }
const ModelPace kSteady{.gives_power = true};
const ModelPace kSilent{};

// Weakness 3 of the original: its minimum once began at 0, and so did every period.
TEST(PeriodFor, IsHalfOfTheFastestModels) {
  EXPECT_EQ(period_for({every(400ms), every(120ms)}), 60ms);
  EXPECT_EQ(period_for({every(20ms), every(100ms)}), 10ms);
}

TEST(PeriodFor, TakesAPowerThatStaysForOneThatIsRenewedEach100Milliseconds) {
  EXPECT_EQ(period_for({kSteady}), 50ms);
  EXPECT_EQ(period_for({kSteady, every(20ms)}), 10ms);
  EXPECT_EQ(period_for({kSteady, every(150ms)}), 50ms);
}

TEST(PeriodFor, Is100MillisecondsWhereNoGpuReportsItsPower) {
  EXPECT_EQ(period_for({}), 100ms);
  EXPECT_EQ(period_for({kSilent}), 100ms);
  EXPECT_EQ(period_for({kSilent, every(40ms)}), 20ms);
}

TEST(PeriodFor, IsAtMost100MillisecondsWhichIsWarnedAbout) {
  const HeardLog log;
  EXPECT_EQ(period_for({every(200ms)}), 100ms);
  EXPECT_THAT(log.messages(), IsEmpty());
  EXPECT_EQ(period_for({every(1s)}), 100ms);
  EXPECT_THAT(log.messages(), ElementsAre(HasSubstr("renewed every 1 s")));
}

TEST(PeriodFor, IsAtLeastAMillisecond) { EXPECT_EQ(period_for({every(10us)}), 1ms); }

/// Reads for as long as it takes in virtual time, without waiting.
class InferPeriodTest : public testing::Test {
 protected:
  InferPeriodTest() { clock_.advance_at_each_look(1ms); }

  Selection::SelectedGpu gpu(std::uint32_t index, Script script, std::string model = "A") {
    std::vector<std::pair<PowerDomain, Script>> scripts;
    scripts.emplace_back(PowerDomain::device_instant, std::move(script));
    auto sensor = std::make_shared<PlayedGpu>(index, std::move(scripts), clock_, std::move(model));
    const ChannelSet channels = power_channels(*sensor, std::nullopt);
    return {.index = index, .sensor = std::move(sensor), .channels = channels};
  }
  nanoseconds infer(const std::vector<Selection::SelectedGpu>& gpus) {
    return infer_pace(gpus, clock_, {.length = 1200ms, .deadline = fakes::kLongWait}).period;
  }
  /// A power that changes at each multiple of `update`.
  static Script renewed(nanoseconds update) {
    return [=](nanoseconds now) { return watts(static_cast<double>(100 + now / update)); };
  }

  fakes::VirtualClock clock_;
};

// Weakness 1: a fixed number of quick reads covers less than two updates.
TEST_F(InferPeriodTest, FindsSlowUpdates) {
  EXPECT_NEAR(Seconds(infer({gpu(0, renewed(100ms))})).count(), 0.05, 0.003);
}

// Weakness 2: the least of all gaps is taken, so that one update that came late and one that came
// early make a busy loop.
TEST_F(InferPeriodTest, IsNotLedAstrayByOneShortGap) {
  const Script jittered = [](nanoseconds now) {
    return watts(static_cast<double>(100 + now / 100ms + (now >= 498ms ? 7 : 0)));
  };
  EXPECT_NEAR(Seconds(infer({gpu(0, jittered)})).count(), 0.05, 0.003);
}

TEST_F(InferPeriodTest, Is50MillisecondsForAPowerThatStays) {
  EXPECT_EQ(infer({gpu(0, always(100))}), 50ms);
}

TEST_F(InferPeriodTest, IsNotLedAstrayByALoadThatBegins) {
  const Script ramp = [](nanoseconds now) {
    return watts(now < 500ms
                     ? 100.0
                     : 100.0 + static_cast<double>(std::min<nanoseconds>(now, 529ms) / 10ms));
  };
  EXPECT_EQ(infer({gpu(0, ramp)}), 50ms);
}

TEST_F(InferPeriodTest, Is100MillisecondsWhereNothingCanBeRead) {
  EXPECT_EQ(infer({gpu(0, [](auto) { return fakes::Shown{.status = ReadStatus::retry}; })}), 100ms);
  EXPECT_EQ(infer({}), 100ms);
}

/// A board that Wattle has never heard of: nothing is known of its gauge.
std::shared_ptr<Sensor> unlisted_gpu(const Script& script, const TimeSource& clock) {
  Channel channel = power_channel(0, PowerDomain::device_instant);
  channel.update = {};
  std::vector<fakes::ScriptedCounter> gauges;
  gauges.push_back({channel, [script](TimePoint now) { return script(now - kBegin); }});
  return std::make_shared<fakes::ScriptedSensor>(std::move(gauges), clock);
}

TEST_F(InferPeriodTest, PassesTheHistoriesHowOftenABoardThatNobodyKnowsIsRenewed) {
  const auto sensor = unlisted_gpu(renewed(20ms), clock_);
  const Selection::SelectedGpu gpu{.sensor = sensor, .channels = ChannelSet(1)};
  const InferredPace pace =
      infer_pace({gpu}, clock_, {.length = 1200ms, .deadline = fakes::kLongWait});
  const auto watched = std::make_shared<WatchedSensor>(sensor, pace.channels_of(*sensor));
  const Recorder recorder(watched, ChannelSet(1), {.period = 10ms});
  EXPECT_NEAR(Seconds(recorder.histories().front().update()).count(), 0.02, 0.001);
}

TEST_F(InferPeriodTest, LeavesABoardThatNobodyKnowsAsItIsWhereItsPowerStays) {
  const auto sensor = unlisted_gpu(always(100), clock_);
  const Selection::SelectedGpu gpu{.sensor = sensor, .channels = ChannelSet(1)};
  const InferredPace pace =
      infer_pace({gpu}, clock_, {.length = 1200ms, .deadline = fakes::kLongWait});
  EXPECT_FALSE(pace.channels_of(*sensor).front().update.known());
}

TEST_F(InferPeriodTest, ChangesNothingThatIsKnown) {
  const Selection::SelectedGpu fast = gpu(0, renewed(20ms));
  const InferredPace pace =
      infer_pace({fast}, clock_, {.length = 1200ms, .deadline = fakes::kLongWait});
  EXPECT_EQ(pace.channels_of(*fast.sensor).back().update.mean, 100ms) << "its table says so";
}

TEST(InferPeriod, DoesNotWaitForAGpuThatHangs) {
  const auto gate = std::make_shared<fakes::Gate>();
  gate->shut();
  Selection::SelectedGpu hangs{
      .index = 0,
      .sensor = std::make_shared<fakes::GatedSensor>(
          std::vector{power_channel(0, PowerDomain::device_instant)}, gate, machine_clock()),
      .channels = ChannelSet(1)};
  EXPECT_EQ(infer_pace({hangs}, machine_clock(), {.length = 1ms, .deadline = 10ms}).period, 100ms);
  gate->open();
}

TEST(InferUpdatePeriod, RefusesGpusThatAreNotThere) {
  const fakes::FakeNvml fake("gpu A\npower step 0 100\n");
  EXPECT_THROW((void)infer_update_period(std::vector<std::uint32_t>{3}, fake.system()),
               NoSuchDevice);
  EXPECT_THROW((void)infer_update_period(std::vector<std::uint32_t>{}, fake.system()),
               InvalidArgument);
}

TEST(InferUpdatePeriod, Is100MillisecondsWithoutGpus) {
  System nothing;
  nothing.nvml_library = "/nothing/libnvidia-ml.so.1";
  EXPECT_EQ(infer_update_period({}, nothing), 100ms);
}

}  // namespace
}  // namespace wattle::power_test
