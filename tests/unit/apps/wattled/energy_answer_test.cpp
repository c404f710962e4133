// Energies of the past while the wall clock is set: a program of its own.
#include "api/energy_answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <ctime>
#include <nlohmann/json.hpp>

#include "fakes/scripted_sensor.hpp"
#include "fakes/wall_clock.hpp"
#include "http/target.hpp"
#include "virtual_loop.hpp"
#include "wattle/clock.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::seconds;
using Json = nlohmann::json;

/// A package of 50 W that has been read for 10 s from now, kept for a minute.
class EnergyAnswer : public testing::Test {
 protected:
  EnergyAnswer() { watch_package_of(Watts(50.0)); }
  void watch_package_of(Watts power) {
    Channel channel = fakes::counter_channel(Domain::package(0));
    channel.counter.least_power = Watts(0.1);
    std::vector<fakes::ScriptedCounter> counters;
    counters.push_back(fakes::constant_power(channel, power, begin_, 1'000'000));
    std::vector<std::shared_ptr<Sensor>> sensors;
    sensors.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(counters), clock_));
    history_.reset();
    history_.emplace(std::move(sensors), loop_, clock_, seconds(60));
    loop_.advance(seconds(10));
  }
  ~EnergyAnswer() override { set_clock_by(0); }

  static void set_clock_by(std::int64_t offset_s) {
    fakes::set_wall_clock_off(offset_s);
    (void)to_unix(TimePoint{});  // as the daemon does ten times a second
  }
  /// The package's energy in a window of Unix seconds.
  [[nodiscard]] Json between(double from, double to,
                             std::chrono::milliseconds public_period = seconds(0)) {
    return answer(from, to, public_period).at("domains").at(0);
  }
  [[nodiscard]] Json answer(double from, double to, std::chrono::milliseconds public_period) {
    const Response response = energy_answer(
        &*history_, "from=" + std::to_string(from) + "&to=" + std::to_string(to), public_period);
    EXPECT_EQ(response.status, 200U) << response.body;
    return Json::parse(response.body);
  }
  [[nodiscard]] double unix_at(std::chrono::milliseconds after) const {
    return to_unix(begin_ + after);
  }

  /// Steps of the wall clock are dated by the steady clock. It may show less than the other tests'
  /// loops start at: the machine may have started just now.
  TimePoint begin_ = std::chrono::steady_clock::now();
  VirtualLoop loop_{begin_};
  LoopClock clock_{loop_};
  std::optional<EnergyHistory> history_;
};

TEST_F(EnergyAnswer, IsThatOfTheWindow) {
  const Json reported = between(unix_at(seconds(2)), unix_at(seconds(8)));
  EXPECT_NEAR(reported["energy_j"].get<double>(), 300.0, reported["uncertainty_j"].get<double>());
  EXPECT_EQ(reported["unknown_s"], 0.0);
  EXPECT_EQ(reported["flags"], Json::array());
  EXPECT_EQ(reported["method"], "counter");
}

TEST_F(EnergyAnswer, HasThePartOfItsUncertaintyThatComesBack) {
  // A gauge shows a rise of 100 W within the window 0.1 s late.
  const TimePoint begin = loop_.now();
  std::vector<fakes::ScriptedCounter> gauges;
  gauges.push_back({{.domain = Domain::nvidia_gpu(0),
                     .update = {.mean = std::chrono::milliseconds(100)},
                     .metric = Metric::power_instant},
                    [begin](TimePoint now) {
                      return fakes::Shown{.raw = now < begin + seconds(5) ? 100U : 200U};
                    }});
  std::vector<std::shared_ptr<Sensor>> sensors;
  sensors.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(gauges), clock_));
  history_.reset();
  history_.emplace(std::move(sensors), loop_, clock_, seconds(60));
  loop_.advance(seconds(10));
  const double from = to_unix(begin);
  EXPECT_NEAR(between(from + 4.0, from + 6.0)["common_j"].get<double>(), -10.0, 0.1);
  EXPECT_NEAR(between(from + 1.0, from + 3.0)["common_j"].get<double>(), 0.0, 0.1);
}

TEST_F(EnergyAnswer, ForStrangersHidesHowThePowerChanged) {
  const double from = std::ceil(unix_at(seconds(2)));
  EXPECT_TRUE(between(from, from + 4.0, seconds(1))["common_j"].is_null());
  EXPECT_TRUE(between(from, from + 4.0)["common_j"].is_number());
}

TEST_F(EnergyAnswer, UpToNowLacksNothing) {
  loop_.advance(std::chrono::milliseconds(70));  // since the last of ten readings per second
  const Json reported = between(unix_at(seconds(2)), to_unix(loop_.now()) - 1e-5);
  EXPECT_NEAR(reported["energy_j"].get<double>(), 403.5, reported["uncertainty_j"].get<double>());
  EXPECT_EQ(reported["unknown_s"], 0.0);
  EXPECT_EQ(reported["flags"], Json::array());
}

TEST_F(EnergyAnswer, OfACounterThatDoesNotMoveIsUnknownForEverybody) {
  watch_package_of(Watts(0.0));
  for (const auto public_period : {seconds(0), seconds(1)}) {
    const Json reported = between(unix_at(seconds(12)), unix_at(seconds(18)), public_period);
    EXPECT_TRUE(reported["energy_j"].is_null()) << reported;
    EXPECT_EQ(reported["reason"], "its counter does not move");
    EXPECT_EQ(reported["flags"], Json{"stuck"});
  }
}

TEST_F(EnergyAnswer, AcrossAStepOfTheClockIsFlagged) {
  const double from = unix_at(seconds(0)) - 1.0;
  set_clock_by(3600);
  const Json reported = between(from, unix_at(seconds(8)));
  EXPECT_THAT(reported["flags"], testing::Contains("clock_stepped"));
  // Still the energy of the time that really passed.
  EXPECT_NEAR(reported["energy_j"].get<double>(), 400.0, 1.0);
}

TEST_F(EnergyAnswer, OfATimeOverWhichTheClockWasSetIsUnknown) {
  const double from = unix_at(seconds(0)) + 1800.0;
  set_clock_by(3600);
  const double until_set_s = Seconds(std::chrono::steady_clock::now() - begin_).count();
  const Json reported = between(from, unix_at(seconds(8)));
  EXPECT_NEAR(reported["unknown_s"].get<double>(), 1800.0, 1.0);
  EXPECT_THAT(reported["flags"], testing::IsSupersetOf({"clock_stepped", "gap"}));
  // Of the time since the clock was set: 50 W less before that.
  const double energy_j = reported["energy_j"].get<double>();
  EXPECT_LE(energy_j, 401.0);
  EXPECT_GE(energy_j, 399.0 - 50.0 * until_set_s);
}

TEST_F(EnergyAnswer, AfterAStepOfTheClockIsNotFlagged) {
  set_clock_by(3600);
  const Json reported = between(unix_at(seconds(2)), unix_at(seconds(8)));
  EXPECT_EQ(reported["flags"], Json::array());
  EXPECT_NEAR(reported["energy_j"].get<double>(), 300.0, reported["uncertainty_j"].get<double>());
}

TEST_F(EnergyAnswer, OfATimeTheMachineSleptIsUnknown) {
  clock_.slept += std::chrono::hours(1);
  loop_.advance(seconds(10));
  const Json reported = between(unix_at(seconds(5)), unix_at(seconds(15)));
  EXPECT_THAT(reported["flags"], testing::Contains("gap"));
  EXPECT_NEAR(reported["unknown_s"].get<double>(), 0.1, 0.01);
}

TEST_F(EnergyAnswer, IsKeptAsLongAsWasAskedFor) {
  const double from = unix_at(seconds(2));
  loop_.advance(seconds(60));
  const Json reported = between(from, from + 60.0);
  EXPECT_NEAR(reported["unknown_s"].get<double>(), 8.0, 0.01);
  EXPECT_THAT(reported["flags"], testing::Contains("gap"));
  EXPECT_NEAR(reported["energy_j"].get<double>(), 52.0 * 50.0, 1.0);
}

TEST_F(EnergyAnswer, ForStrangersShowsNothingByChoiceOfTheWindow) {
  // Parts of a window add up to the whole of it to the joule, wherever it is cut: each instant has
  // one value, that of its second.
  const double end = std::floor(unix_at(seconds(9)));
  const auto joules = [&](double from, double to) {
    return between(from, to, seconds(1))["energy_j"].get<double>();
  };
  const double all = joules(end - 7.0, end);
  EXPECT_EQ(all, std::floor(all));
  for (int cut = 120; cut < 480; ++cut) {
    const double at = end - 0.0125 * cut;
    EXPECT_EQ(joules(end - 7.0, at) + joules(at, end), all) << at;
  }
}

TEST_F(EnergyAnswer, ForStrangersIsOfWholePeriodsAndInMultiplesOfAJouleForEachSecond) {
  const double from = 4.0 * std::ceil(unix_at(seconds(0)) / 4.0);
  const Json reported = answer(from + 0.5, from + 4.5, seconds(4));
  EXPECT_EQ(reported["from"], from);
  EXPECT_EQ(reported["to"], from + 4.0);
  const Json package = reported.at("domains").at(0);
  EXPECT_NEAR(package["energy_j"].get<double>(), 200.0, 4.0);
  EXPECT_EQ(std::fmod(package["energy_j"].get<double>(), 4.0), 0.0) << package;
  EXPECT_GE(package["uncertainty_j"].get<double>(), 4.0);
}

TEST_F(EnergyAnswer, ForStrangersNeedsAPeriodThatIsWhole) {
  const double from = std::ceil(unix_at(seconds(2)));
  const std::string query =
      "from=" + std::to_string(from + 0.25) + "&to=" + std::to_string(from + 0.75);
  try {
    (void)energy_answer(&*history_, query, seconds(1));
    FAIL() << "no whole second lies in it";
  } catch (const QueryFault& fault) {
    EXPECT_STREQ(fault.what(),
                 "The window is too short: its ends are rounded down to multiples of 1 s for "
                 "callers without a token at this port.");
  }
}

TEST_F(EnergyAnswer, ForStrangersTakesTheEndOfAPeriodForTheEnd) {
  const double from = std::ceil(unix_at(seconds(2)) * 100.0) / 100.0;
  const Json reported = answer(from, from + 0.01, std::chrono::milliseconds(10));
  EXPECT_NEAR(reported["from"].get<double>(), from, 1e-6);
  EXPECT_NEAR(reported["to"].get<double>(), from + 0.01, 1e-6);
}

}  // namespace
}  // namespace wattle::daemon
