#include "run/measure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <utility>

#include "fakes/scripted_sensor.hpp"

namespace wattle::app {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// A power gauge that is assumed to see 25 of 100 ms.
Channel gauge() {
  return {.domain = Domain::nvidia_gpu(0),
          .update = {.mean = 100ms, .spread = 1ms, .p99 = 102ms},
          .metric = Metric::power_instant,
          .gauge = {.scale = 0.001, .window = 25ms, .coverage = 0.25}};
}

Observation regular() {
  return {.length = 4s,
          .readings = 4000,
          .changes = 80,
          .interval = {.mean = 50ms, .spread = 300us, .p99 = 51ms},
          .doubt = PeriodDoubt::none,
          .poll = 1ms,
          .least_step = 12,
          .median_step = 437,
          .call = 20us,
          .longest_call = 1500us};
}

TEST(Measured, IsReportedWithWhatWasAssumed) {
  EXPECT_EQ(measured_text({.channel = gauge(), .seen = regular()}),
            "\t  measured: renewed every 50.0 ms (assumed: 100 ms), spread 300 µs, "
            "99 % within 51.0 ms\n"
            "\t  changes by 437.0 mW, at least 12.00 mW; a reading takes 20.0 µs, "
            "at most 1.50 ms\n");
}

TEST(Measured, HasThreeDigits) {
  Observation seen = regular();
  seen.interval = {.mean = 99'960us, .spread = 9'996us, .p99 = 99'940us};
  seen.call = 999ns;
  seen.longest_call = 9'990ns;
  const std::string text = measured_text({.channel = gauge(), .seen = seen});
  EXPECT_THAT(text, HasSubstr("every 100 ms"));
  EXPECT_THAT(text, HasSubstr("spread 10.0 ms, 99 % within 99.9 ms"));
  EXPECT_THAT(text, HasSubstr("takes 999 ns, at most 9.99 µs"));
}

TEST(Measured, DoesNotRepeatWhatWasAssumedRightly) {
  Channel channel = gauge();
  channel.update.mean = 52ms;
  EXPECT_THAT(measured_text({.channel = channel, .seen = regular()}),
              HasSubstr("renewed every 50.0 ms, spread"));
}

TEST(Measured, IsABoundWhereMoreIsUnknown) {
  Observation seen = regular();
  seen.interval = {};
  seen.at_most = 30ms;
  seen.doubt = PeriodDoubt::slow_polls;
  const MeasuredChannel measured{.channel = gauge(), .seen = seen};
  EXPECT_THAT(measured_text(measured),
              HasSubstr("measured: renewed every 30.0 ms or more often (assumed: 100 ms): it "
                        "changes faster than it was read\n"));
  const auto json = measured_json(measured);
  EXPECT_EQ(json["period_s"], nullptr);
  EXPECT_EQ(json["period_at_most_s"], 0.03);
  EXPECT_EQ(json["reason"], "it changes faster than it was read");
}

TEST(Measured, ReportsACounterThatFell) {
  Observation seen = regular();
  seen.monotonic = false;
  const MeasuredChannel measured{.channel = fakes::counter_channel(Domain::package(0)),
                                 .seen = seen};
  EXPECT_THAT(measured_text(measured), HasSubstr("; FELL; a reading takes"));
  EXPECT_EQ(measured_json(measured)["monotonic"], false);
}

TEST(Measured, HasAReasonInPlaceOfFiguresWhereTheDriverDidNotAnswer) {
  const MeasuredChannel measured{.channel = gauge()};
  EXPECT_EQ(measured_text(measured), "\t  measured: the driver did not answer within 2 s\n");
  const auto json = measured_json(measured);
  for (const auto& [key, value] : json.items()) {
    if (key == "reason") {
      EXPECT_EQ(value, "the driver did not answer within 2 s");
    } else if (key == "assumed_period_s") {
      EXPECT_EQ(value, 0.1);
    } else {
      EXPECT_EQ(value, nullptr) << key;
    }
  }
}

TEST(WithDiscovered, TakesWhatWasFoundInPlaceOfWhatWasAssumed) {
  const Channel channel = with_discovered(gauge(), {.channel = gauge(), .seen = regular()});
  EXPECT_EQ(channel.update.mean, 50ms);
  EXPECT_EQ(channel.update.p99, 51ms);
  EXPECT_EQ(channel.gauge.coverage, 0.5) << "25 of 50 ms";
}

TEST(WithDiscovered, KeepsWhatWasAssumedWhereNothingWasFound) {
  const Channel channel = with_discovered(gauge(), {.channel = gauge()});
  EXPECT_EQ(channel.update.mean, 100ms);
  EXPECT_EQ(channel.gauge.coverage, 0.25);
}

TEST(Measure, ReadsEachQuantityThroughTheFirstInterfaceThatShowsIt) {
  const auto source = [](const char* name) {
    Channel channel = fakes::counter_channel(Domain::package(0));
    channel.source = name;
    Survey found;
    found.sensors.push_back(std::make_unique<fakes::ScriptedSensor>(
        std::vector{fakes::constant_power(channel, Watts(100.0), machine_clock().now())},
        machine_clock()));
    return found;
  };
  std::vector<Survey> surveys;
  surveys.push_back(source("perf"));
  surveys.push_back(source("powercap"));
  const std::vector<MeasuredChannel> measured = measure(surveys, std::chrono::nanoseconds(0));
  ASSERT_EQ(measured.size(), 1U);
  EXPECT_EQ(measured[0].channel.source, "perf");
  EXPECT_GT(measured[0].seen->readings, 0U);
  EXPECT_EQ(find(measured, measured[0].channel), measured.data());
  EXPECT_EQ(find(measured, gauge()), nullptr);
}

}  // namespace
}  // namespace wattle::app
