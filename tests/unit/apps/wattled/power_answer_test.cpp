// The power of the past, in columns.
#include "api/power_answer.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "fakes/scripted_sensor.hpp"
#include "fakes/wall_clock.hpp"
#include "http/target.hpp"
#include "virtual_loop.hpp"
#include "wattle/clock.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Json = nlohmann::json;

/// The wall clock of this program, right again at its end.
class WallClock {
 public:
  WallClock() = default;
  WallClock(const WallClock&) = delete;
  WallClock& operator=(const WallClock&) = delete;
  ~WallClock() { set_by(0); }
  static void set_by(std::int64_t seconds) {
    fakes::set_wall_clock_off(seconds);
    (void)to_unix(TimePoint{});  // as the daemon does ten times a second
  }
};

/// A package of 50 W, and a GPU that draws 100 W and 200 W in turn, each for 0.5 s. Both have been
/// read for 20 s from now, and are kept for a minute.
class PowerAnswer : public testing::Test {
 protected:
  PowerAnswer() {
    Channel channel = fakes::counter_channel(Domain::package(0));
    channel.counter.least_power = Watts(0.1);
    std::vector<fakes::ScriptedCounter> counters;
    counters.push_back(fakes::constant_power(channel, Watts(50.0), begin_, 1'000'000));
    std::vector<std::shared_ptr<Sensor>> sensors;
    sensors.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(counters), clock_));
    std::vector<fakes::ScriptedCounter> gauges;
    gauges.push_back(
        {{.domain = Domain::nvidia_gpu(0), .metric = Metric::power_instant}, [this](TimePoint now) {
           const auto halves = (now - begin_) / milliseconds(500);
           return fakes::Shown{.raw = halves % 2 == 0 ? 100U : 200U};
         }});
    sensors.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(gauges), clock_));
    history_.emplace(std::move(sensors), loop_, clock_, seconds(60));
    loop_.advance(seconds(20));
  }

  [[nodiscard]] Json ask(double from, double to, const std::string& more = "",
                         milliseconds public_period = seconds(0)) {
    const Response response = power_answer(
        &*history_, "from=" + std::to_string(from) + "&to=" + std::to_string(to) + more,
        public_period);
    EXPECT_EQ(response.status, 200U) << response.body;
    return Json::parse(response.body);
  }
  [[nodiscard]] static Json of(const Json& answer, const std::string& domain) {
    for (const Json& each : answer["domains"]) {
      if (each["domain"] == domain) return each;
    }
    return nullptr;
  }
  [[nodiscard]] std::string refusal_of(const std::string& query) {
    try {
      return power_answer(&*history_, query, seconds(0)).body;
    } catch (const QueryFault& fault) {
      return fault.what();
    }
  }
  /// So many seconds after the first reading.
  [[nodiscard]] double unix_at(double after) const { return to_unix(begin_) + after; }

  TimePoint begin_ = std::chrono::steady_clock::now();
  VirtualLoop loop_{begin_};
  LoopClock clock_{loop_};
  std::optional<EnergyHistory> history_;
};

TEST_F(PowerAnswer, IsTheMeanOfEachColumn) {
  const Json answer = ask(unix_at(2.0), unix_at(10.0), "&columns=4");
  EXPECT_EQ(answer["schema"], "wattled.power/1");
  EXPECT_EQ(answer["columns"], 4);
  EXPECT_EQ(answer["column_s"], 2.0);
  EXPECT_EQ(answer["step_s"], 0.5);
  const Json& package = of(answer, "package_0");
  EXPECT_EQ(package["additive"], true);
  for (const char* const key : {"mean_w", "uncertainty_w", "lowest_w", "highest_w"}) {
    ASSERT_EQ(package[key].size(), 4U) << key;
  }
  for (std::size_t i = 0; i < 4; ++i) {
    const double mean = package["mean_w"][i].get<double>();
    EXPECT_NEAR(mean, 50.0, package["uncertainty_w"][i].get<double>());
    EXPECT_LE(package["lowest_w"][i].get<double>(), mean);
    EXPECT_GE(package["highest_w"][i].get<double>(), mean);
  }
}

TEST_F(PowerAnswer, OfAGaugeHasTheExtremesOfItsSteps) {
  const Json answer = ask(unix_at(2.0), unix_at(10.0), "&columns=4");
  const Json& gpu = of(answer, "nvidia_gpu_0");
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(gpu["mean_w"][i].get<double>(), 150.0, 1.0);
    // A step holds one value; a reading may come a little after its start.
    EXPECT_NEAR(gpu["lowest_w"][i].get<double>(), 100.0, 1.0);
    EXPECT_NEAR(gpu["highest_w"][i].get<double>(), 200.0, 1.0);
    EXPECT_TRUE(gpu["uncertainty_w"][i].is_null());
  }
}

TEST_F(PowerAnswer, HasTheFlagsOfWhatASensorSees) {
  const auto flags = [this](GaugeTraits traits) {
    std::vector<fakes::ScriptedCounter> gauges;
    gauges.push_back({{.domain = Domain::nvidia_gpu(1),
                       .update = {.mean = milliseconds(100)},
                       .metric = Metric::power_instant,
                       .gauge = traits},
                      [](TimePoint) { return fakes::Shown{.raw = 100U}; }});
    std::vector<std::shared_ptr<Sensor>> sensors;
    sensors.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(gauges), clock_));
    history_.emplace(std::move(sensors), loop_, clock_, seconds(60));
    const double from = to_unix(loop_.now());
    loop_.advance(seconds(20));
    const Json fine = of(ask(from + 2.0, from + 10.0, "&columns=4"), "nvidia_gpu_1")["flags"];
    const Json coarse = of(ask(from + 1.0, from + 19.0, "&columns=2"), "nvidia_gpu_1")["flags"];
    EXPECT_EQ(fine, coarse);
    return fine;
  };
  EXPECT_EQ(flags({.window = milliseconds(25), .coverage = 0.25}), Json{"partial_coverage"});
  EXPECT_EQ(flags({}), Json{"coverage_unknown"});
  EXPECT_EQ(flags({.window = milliseconds(100), .coverage = 1.0}), Json::array());
}

TEST_F(PowerAnswer, HasTheFlagsOfItsCounter) {
  const Json answer = ask(unix_at(-4.0), unix_at(4.0), "&columns=8");
  EXPECT_EQ(of(answer, "package_0")["flags"], Json::array());
}

TEST_F(PowerAnswer, StartsLongColumnsWithWholeSeconds) {
  loop_.advance(seconds(40));
  const Json answer = ask(unix_at(2.3), unix_at(44.0), "&columns=7");
  const double from = answer["from"].get<double>();
  EXPECT_NEAR(from, std::round(from), 1e-3);
  EXPECT_GT(from, unix_at(1.3) - 1e-3);
  EXPECT_LT(from, unix_at(2.3) + 1e-3);
  EXPECT_EQ(answer["column_s"], 6.0);
  EXPECT_EQ(answer["columns"], 6);
  EXPECT_EQ(answer["step_s"], 0.1);
  // A step holds one value: these are the values themselves.
  const Json& gpu = of(answer, "nvidia_gpu_0");
  EXPECT_EQ(gpu["lowest_w"][3], 100.0);
  EXPECT_EQ(gpu["highest_w"][3], 200.0);
  EXPECT_NEAR(gpu["mean_w"][3].get<double>(), 150.0, 1.0);
  const Json& package = of(answer, "package_0");
  EXPECT_NEAR(package["mean_w"][3].get<double>(), 50.0, package["uncertainty_w"][3].get<double>());
}

TEST_F(PowerAnswer, HasAsManyColumnsAsWereAskedForAtMost) {
  for (const int most : {1, 3, 7, 360, 1000}) {
    const Json answer = ask(unix_at(0.0), unix_at(19.9), "&columns=" + std::to_string(most));
    EXPECT_LE(answer["columns"].get<int>(), most);
    EXPECT_EQ(of(answer, "package_0")["mean_w"].size(), answer["columns"].get<std::size_t>());
    const double width = answer["column_s"].get<double>();
    EXPECT_NEAR(width / 0.1, std::round(width / 0.1), 1e-9) << "a multiple of the readings";
    EXPECT_LE(width * answer["columns"].get<double>(), 19.9 + 1e-9);
  }
}

TEST_F(PowerAnswer, IsUnknownWhereNothingWasRead) {
  const Json means = of(ask(unix_at(-4.0), unix_at(4.0), "&columns=8"), "package_0")["mean_w"];
  EXPECT_TRUE(means[0].is_null()) << means;
  EXPECT_TRUE(means[2].is_null()) << means;
  EXPECT_TRUE(means[7].is_number()) << means;
  EXPECT_THROW((void)ask(unix_at(100.0), unix_at(110.0)), QueryFault);  // that is yet to come
}

TEST_F(PowerAnswer, StartsWithWhatIsKept) {
  loop_.advance(seconds(60));
  const Json answer = ask(unix_at(0.0), unix_at(80.0));
  EXPECT_NEAR(answer["from"].get<double>(), unix_at(20.0), 1e-3);
}

TEST_F(PowerAnswer, EndsNow) {
  for (const milliseconds public_period : {milliseconds(0), milliseconds(1000)}) {
    const Json answer = ask(unix_at(10.0), 1e11, "&columns=1000", public_period);
    EXPECT_LE(answer["column_s"].get<double>() * answer["columns"].get<double>(), 10.0 + 1e-6);
  }
}

TEST_F(PowerAnswer, IsUnknownWhereACounterStoodStill) {
  const TimePoint begin = loop_.now();
  std::vector<fakes::ScriptedCounter> counters;
  counters.push_back({fakes::counter_channel(Domain::package(0)), [begin](TimePoint now) {
                        // 50 W, but from 4 to 8 s.
                        const double after = Seconds(now - begin).count();
                        const double counted = after - std::clamp(after - 4.0, 0.0, 4.0);
                        return fakes::Shown{
                            .raw = static_cast<std::uint64_t>(50.0 * counted * 16384.0)};
                      }});
  std::vector<std::shared_ptr<Sensor>> sensors;
  sensors.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(counters), clock_));
  EnergyHistory history(std::move(sensors), loop_, clock_, seconds(60));
  loop_.advance(seconds(12));
  for (const milliseconds public_period : {milliseconds(0), milliseconds(1000)}) {
    const Response response = power_answer(
        &history,
        fmt::format("from={}&to={}&columns=12", to_unix(begin) + 1.0, to_unix(begin) + 12.0),
        public_period);
    const Json means = of(Json::parse(response.body), "package_0")["mean_w"];
    EXPECT_TRUE(means[5].is_null()) << means;
    EXPECT_NEAR(means[1].get<double>(), 50.0, 1.0) << means;
    EXPECT_NEAR(means[9].get<double>(), 50.0, 1.0) << means;
  }
}

TEST_F(PowerAnswer, StartsAfterATimeOverWhichTheClockWasSet) {
  const WallClock right_at_the_end;
  const double from = unix_at(0.0) + 1800.0;
  WallClock::set_by(3600);
  const Json answer = ask(from, to_unix(loop_.now()));
  EXPECT_NEAR(answer["from"].get<double>(), from + 1800.0, 1.0);
}

TEST_F(PowerAnswer, IsThereAfterAClockThatWasAheadIsSetBack) {
  const WallClock right_at_the_end;
  WallClock::set_by(100'000'000);
  const TimePoint ahead = std::chrono::steady_clock::now();
  WallClock::set_by(0);
  loop_.advance(ahead + seconds(60) - loop_.now());  // what is kept starts while it was ahead
  const double now = to_unix(loop_.now());
  EXPECT_NEAR(of(ask(now - 5.0, now - 1.0), "package_0")["mean_w"][0].get<double>(), 50.0, 2.0);
}

TEST_F(PowerAnswer, OfMuchTimeCostsNoMoreColumns) {
  const Json answer = ask(unix_at(0.0), unix_at(0.0) + 1e9);
  EXPECT_LE(answer["columns"].get<int>(), 360);
}

TEST_F(PowerAnswer, ForStrangersIsInWholeJoulesOfWholeSeconds) {
  const double from = std::ceil(unix_at(1.0));
  const Json answer = ask(from + 0.4, from + 8.7, "&columns=1000", seconds(1));
  EXPECT_EQ(answer["from"], from);
  EXPECT_EQ(answer["columns"], 8);
  const Json& package = of(answer, "package_0");
  for (std::size_t i = 0; i < 8; ++i) {
    const double mean = package["mean_w"][i].get<double>();
    EXPECT_EQ(mean, std::floor(mean));
    EXPECT_NEAR(mean, 50.0, 1.0);
    EXPECT_TRUE(package["lowest_w"][i].is_null());
    EXPECT_TRUE(package["highest_w"][i].is_null());
    // As that of an energy: in whole joules, with one for the roundings.
    EXPECT_EQ(package["uncertainty_w"][i], i == 0 || i == 7 ? 7.0 : 2.0);
  }
}

TEST_F(PowerAnswer, NeedsAWindowAndANumber) {
  for (const char* const query : {"", "from=1", "from=2&to=1", "from=x&to=2", "from=-1&to=2",
                                  "from=1&to=1e300", "from=1&to=nan"}) {
    EXPECT_THAT(refusal_of(query), testing::AnyOf(testing::HasSubstr("Unix seconds"),
                                                  testing::HasSubstr("must lie before")))
        << query;
  }
  for (const char* const columns : {"0", "1001", "-1", "1.5", "", "x", "4294967297"}) {
    EXPECT_EQ(refusal_of(std::string("from=1&to=2&columns=") + columns),
              "`columns` must be a whole number from 1 to 1000.");
  }
  EXPECT_THAT(refusal_of("from=1&to=2&colums=3"), testing::HasSubstr("unknown field"));
  const std::string now = std::to_string(unix_at(1.0));
  EXPECT_EQ(refusal_of("from=" + now + "&to=" + std::to_string(unix_at(1.04))),
            "The window must be at least 0.1 s long.");
  EXPECT_EQ(refusal_of("from=1&to=2"), "The history has nothing of this window.");
  EXPECT_EQ(refusal_of("from=9e10&to=1e11"), "The history has nothing of this window.");
}

TEST_F(PowerAnswer, IsNotThereWithoutAHistory) {
  const Response response = power_answer(nullptr, "from=1&to=2", seconds(0));
  EXPECT_EQ(response.status, 404U);
  EXPECT_THAT(response.body, testing::HasSubstr("--history SECONDS"));
}

/// POWER_HOURS: how much of a history, an hour by default.
TEST(PowerAnswerOfHours, HasAllColumnsOfEightGpus) {
  const char* const hours = std::getenv("POWER_HOURS");  // NOLINT(concurrency-mt-unsafe)
  const std::chrono::hours kept(hours == nullptr ? 1 : std::atoi(hours));
  const TimePoint begin = std::chrono::steady_clock::now();
  VirtualLoop loop(begin);
  LoopClock clock(loop);
  std::vector<std::shared_ptr<Sensor>> sensors;
  for (unsigned gpu = 0; gpu < 8; ++gpu) {
    std::vector<fakes::ScriptedCounter> gauges;
    gauges.push_back(
        {{.domain = Domain::nvidia_gpu(gpu), .metric = Metric::power_instant},
         [begin, gpu](TimePoint now) {
           const auto updates = static_cast<std::uint64_t>((now - begin) / milliseconds(50));
           return fakes::Shown{.raw = 150'000U + (updates * 7919U + gpu * 131U) % 90'000U};
         }});
    sensors.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(gauges), clock));
  }
  EnergyHistory history(std::move(sensors), loop, clock, kept);
  loop.advance(kept);
  const double to = std::floor(to_unix(loop.now())) - 1.0;
  const std::string query = "from=" + std::to_string(to - Seconds(kept).count() + 10.0) +
                            "&to=" + std::to_string(to) + "&columns=360";
  const TimePoint asked = std::chrono::steady_clock::now();
  const Response response = power_answer(&history, query, seconds(0));
  const Seconds took = std::chrono::steady_clock::now() - asked;
  std::printf("%lld h: %.1f ms\n", static_cast<long long>(kept.count()), took.count() * 1e3);
  const Json answer = Json::parse(response.body);
  ASSERT_EQ(answer["domains"].size(), 8U);
  for (const Json& domain : answer["domains"]) {
    EXPECT_GE(domain["mean_w"].size(), 180U);
    for (const Json& mean : domain["mean_w"]) EXPECT_TRUE(mean.is_number()) << domain["domain"];
  }
}

}  // namespace
}  // namespace wattle::daemon
