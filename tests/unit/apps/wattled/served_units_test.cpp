#include "devices/served_units.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fakes/scripted_sensor.hpp"
#include "virtual_loop.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A daemon on a machine whose package draws 50 W.
class ServedUnitsTest : public testing::Test {
 protected:
  ServedUnitsTest() {
    std::vector<fakes::ScriptedCounter> counters;
    counters.push_back(fakes::constant_power(fakes::counter_channel(Domain::package(0)),
                                             Watts(50.0), loop_.now(), 1'000'000));
    std::vector<std::shared_ptr<Sensor>> sensors;
    sensors.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(counters), clock_));
    history_.emplace(std::move(sensors), loop_, clock_, seconds(60));
    units_.emplace(*history_, loop_);
    loop_.advance(seconds(2));
  }
  ServedUnits::UnitStart start(const std::string& tag, const std::string& id, double weight = 1.0,
                               seconds timeout = seconds(3600)) {
    return units_->start({.tag = tag, .id = id, .weight = weight, .timeout = timeout});
  }
  UnitTag tag_of(const std::string& name) {
    loop_.advance(seconds(5));  // for the readings, and for a new report
    for (const UnitTag& tag : units_->report().tags) {
      if (tag.tag == name) return tag;
    }
    return {};
  }

  VirtualLoop loop_;
  LoopClock clock_{loop_};
  std::optional<EnergyHistory> history_;
  std::optional<ServedUnits> units_;
};

TEST_F(ServedUnitsTest, ShareTheEnergyOfTheHistory) {
  EXPECT_EQ(start("a", "1"), ServedUnits::UnitStart::started);
  EXPECT_EQ(start("b", "1", 4.0), ServedUnits::UnitStart::started);
  loop_.advance(seconds(4));
  EXPECT_TRUE(units_->end("a", "1", 7.0));
  EXPECT_TRUE(units_->end("b", "1", 0.0));
  const UnitTag a = tag_of("a");
  EXPECT_EQ(a.count, 1U);
  EXPECT_EQ(a.work, 7.0);
  EXPECT_NEAR(a.sum.si(), 40.0, 1.0);
  EXPECT_NEAR(tag_of("b").sum.si(), 160.0, 4.0);
  const UnitBalance balance = units_->report().domains.at(0).balance;
  EXPECT_NEAR((balance.units + balance.running + balance.idle + balance.without_units).si(),
              balance.measured.si(), 1e-9);
}

TEST_F(ServedUnitsTest, AreNothingBeforeTheFirst) {
  EXPECT_FALSE(units_->since_unix_s());
  EXPECT_TRUE(units_->report().domains.empty());
  EXPECT_FALSE(units_->end("a", "1", 0.0));
}

TEST_F(ServedUnitsTest, AreKnownByTagAndIdWhileTheyRun) {
  EXPECT_EQ(start("a", "1"), ServedUnits::UnitStart::started);
  EXPECT_EQ(start("a", "1"), ServedUnits::UnitStart::runs_already);
  EXPECT_FALSE(units_->end("b", "1", 0.0));
  EXPECT_TRUE(units_->end("a", "1", 0.0));
  EXPECT_FALSE(units_->end("a", "1", 0.0));
  EXPECT_EQ(start("a", "1"), ServedUnits::UnitStart::started);
  EXPECT_EQ(start("a", "2", 0.0), ServedUnits::UnitStart::invalid);
  EXPECT_EQ(start("a", "2"), ServedUnits::UnitStart::started);
}

TEST_F(ServedUnitsTest, ThatNeverEndEndWithTheirTimeout) {
  EXPECT_EQ(start("a", "1", 1.0, seconds(2)), ServedUnits::UnitStart::started);
  EXPECT_EQ(start("a", "2", 1.0, seconds(2)), ServedUnits::UnitStart::started);
  EXPECT_TRUE(units_->end("a", "2", 0.0));
  loop_.advance(milliseconds(1900));
  EXPECT_EQ(units_->timed_out(), 0U);
  loop_.advance(milliseconds(200));
  EXPECT_EQ(units_->timed_out(), 1U) << "the other one ended before";
  EXPECT_FALSE(units_->end("a", "1", 0.0));
  EXPECT_EQ(tag_of("a").count, 2U);
  EXPECT_EQ(units_->report().running, 0U);
}

TEST_F(ServedUnitsTest, AreLimitedInNumber) {
  for (std::size_t i = 0; i < ServedUnits::kMostRunning; ++i) {
    ASSERT_EQ(start("a", std::to_string(i)), ServedUnits::UnitStart::started);
  }
  EXPECT_EQ(start("a", "one more"), ServedUnits::UnitStart::full);
  EXPECT_TRUE(units_->end("a", "0", 0.0));
  EXPECT_EQ(start("a", "one more"), ServedUnits::UnitStart::started);
}

TEST_F(ServedUnitsTest, HaveIdsThatDiffer) {
  const std::string first = units_->make_id();
  EXPECT_NE(first, units_->make_id());
  units_.emplace(*history_, loop_);
  EXPECT_NE(first, units_->make_id()) << "of a daemon that was restarted";
}

TEST_F(ServedUnitsTest, AreReportedAgainAfterASecondAlone) {
  EXPECT_EQ(start("a", "1"), ServedUnits::UnitStart::started);
  loop_.advance(seconds(2));
  EXPECT_EQ(units_->report().running, 1U);
  EXPECT_TRUE(units_->end("a", "1", 0.0));
  loop_.advance(milliseconds(500));
  EXPECT_EQ(units_->report().running, 1U);
  loop_.advance(milliseconds(600));
  EXPECT_EQ(units_->report().running, 0U);
}

}  // namespace
}  // namespace wattle::daemon
