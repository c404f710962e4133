// Power kept in slots, from the readings to the columns of long windows.
#include "devices/power_slots.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "devices/energy_history.hpp"
#include "fakes/scripted_sensor.hpp"
#include "virtual_loop.hpp"
#include "wattle/clock.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A sensor of one channel, read ten times a second for as long as the test lets it.
class PowerSlotsTest : public testing::Test {
 protected:
  using Script = std::function<fakes::Shown(double after_s)>;

  void start(const Channel& channel, const Script& script, seconds kept = seconds(3600)) {
    std::vector<fakes::ScriptedCounter> scripts;
    scripts.push_back(
        {channel, [this, script](TimePoint now) { return script(Seconds(now - begin_).count()); }});
    std::vector<std::shared_ptr<Sensor>> sensors;
    sensors.push_back(std::make_shared<fakes::ScriptedSensor>(std::move(scripts), clock_));
    history_.emplace(sensors, loop_, clock_, kept);
  }
  /// `power` gives the joules since the start.
  void start_counter(const std::function<double(double)>& energy) {
    start(fakes::counter_channel(Domain::package(0)), [energy](double after) {
      return fakes::Shown{.raw = static_cast<std::uint64_t>(energy(after) * 16384.0)};
    });
  }
  void start_gauge(const Script& script) {
    start({.domain = Domain::nvidia_gpu(0), .metric = Metric::power_instant}, script);
  }
  /// `count` columns of `width` from that slot on.
  [[nodiscard]] std::vector<ColumnPower> columns(std::int64_t slot, seconds width,
                                                 std::size_t count) const {
    const TimeColumns asked{
        .begin = history_->slots().start(slot), .width = width, .count = count, .steps = 4};
    EXPECT_TRUE(history_->slots().holds(asked));
    return history_->powers(asked, Joules(0)).front().columns;
  }

  TimePoint begin_ = from_unix(std::floor(to_unix(std::chrono::steady_clock::now())));
  VirtualLoop loop_{begin_};
  LoopClock clock_{loop_};
  std::optional<EnergyHistory> history_;
};

TEST_F(PowerSlotsTest, AreTheEnergyOfACounter) {
  start_counter([](double after) { return after * after; });
  loop_.advance(seconds(200));
  const std::vector<ColumnPower> found = columns(10, seconds(20), 8);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double from = 10.0 + 20.0 * static_cast<double>(i);
    ASSERT_TRUE(found[i].mean && found[i].uncertainty);
    EXPECT_NEAR(found[i].mean->si(), 2.0 * from + 20.0, 0.01);
    EXPECT_LT(std::abs(found[i].mean->si() - 2.0 * from - 20.0), found[i].uncertainty->si());
    EXPECT_LE(*found[i].lowest, *found[i].mean);
    EXPECT_GE(*found[i].highest, *found[i].mean);
  }
}

TEST_F(PowerSlotsTest, ShowAShortBurstInALongColumnOfACounter) {
  // 50 W, and 1000 W more for 0.3 s after 400 s.
  start_counter([](double after) {
    return 50.0 * after + 1000.0 * (std::clamp(after, 400.0, 400.3) - 400.0);
  });
  loop_.advance(seconds(900));
  const std::vector<ColumnPower> found = columns(0, seconds(240), 3);
  EXPECT_NEAR(found[1].highest.value_or(Watts()).si(), 1050.0, 1.0);
  EXPECT_NEAR(found[1].mean.value_or(Watts()).si(), 51.25, 0.1);
  EXPECT_NEAR(found[2].highest.value_or(Watts()).si(), 50.0, 0.1);
}

TEST_F(PowerSlotsTest, ShowEachValueOfAGauge) {
  start_gauge([](double after) {
    const bool is_burst = after > 400.05 && after < 400.15;
    return fakes::Shown{.raw = is_burst ? 700U : 100U};
  });
  loop_.advance(seconds(900));
  const std::vector<ColumnPower> found = columns(0, seconds(240), 3);
  EXPECT_EQ(found[1].highest, Watts(700.0));
  EXPECT_EQ(found[1].lowest, Watts(100.0));
  EXPECT_EQ(found[2].highest, Watts(100.0));
  EXPECT_NEAR(found[1].mean.value_or(Watts()).si(), 100.25, 0.01);
  EXPECT_FALSE(found[1].uncertainty);
}

TEST_F(PowerSlotsTest, AreUnknownWhereMostOfAColumnIs) {
  start_gauge([](double after) {
    const bool fails = after > 60.0 && after < 115.0;
    return fakes::Shown{.raw = 100U, .status = fails ? ReadStatus::retry : ReadStatus::ok};
  });
  loop_.advance(seconds(200));
  const std::vector<ColumnPower> found = columns(0, seconds(30), 5);
  EXPECT_EQ(found[1].mean, Watts(100.0));
  EXPECT_FALSE(found[2].mean);
  EXPECT_FALSE(found[2].highest);
  EXPECT_FALSE(found[3].mean);
  EXPECT_EQ(found[4].mean, Watts(100.0));
}

TEST_F(PowerSlotsTest, AreNotKnownBetterThanACounterThatHadAPause) {
  start(fakes::counter_channel(Domain::package(0)), [](double after) {
    const bool fails = after > 42.0 && after < 47.0;
    return fakes::Shown{.raw = static_cast<std::uint64_t>(100.0 * after * 16384.0),
                        .status = fails ? ReadStatus::retry : ReadStatus::ok};
  });
  loop_.advance(seconds(100));
  const std::vector<ColumnPower> found = columns(0, seconds(20), 4);
  ASSERT_TRUE(found[2].mean);
  EXPECT_NEAR(found[2].mean->si(), 100.0, 0.1) << "the energy of the pause is in the counter";
}

TEST_F(PowerSlotsTest, EndWithTheLastSlotThatWasReadInFull) {
  start_counter([](double after) { return 50.0 * after; });
  loop_.advance(milliseconds(100'050));
  const std::vector<ColumnPower> found = columns(90, seconds(1), 12);
  EXPECT_TRUE(found[8].mean);
  EXPECT_FALSE(found[10].mean);
  EXPECT_FALSE(found[11].mean);
}

TEST_F(PowerSlotsTest, AreOfNoCounterThatIsStuck) {
  start_counter([](double after) { return 50.0 * std::min(after, 30.0); });
  loop_.advance(seconds(100));
  const std::vector<ColumnPower> found = columns(0, seconds(20), 4);
  EXPECT_TRUE(found[0].mean);
  EXPECT_FALSE(found[2].mean);
  EXPECT_FALSE(found[3].mean);
}

TEST_F(PowerSlotsTest, HoldColumnsOfWholeSecondsAlone) {
  const SlotGrid grid{.origin = begin_};
  const auto holds = [&](milliseconds begin, milliseconds width) {
    return grid.holds({.begin = begin_ + begin, .width = width, .count = 1, .steps = 1});
  };
  EXPECT_TRUE(holds(seconds(0), seconds(1)));
  EXPECT_TRUE(holds(seconds(-7), seconds(240)));
  EXPECT_FALSE(holds(milliseconds(500), seconds(1)));
  EXPECT_FALSE(holds(seconds(1), milliseconds(1500)));
  EXPECT_TRUE(grid.holds({.begin = begin_ - std::chrono::microseconds(1),
                          .width = seconds(1),
                          .count = 1,
                          .steps = 1}));
  EXPECT_EQ(grid.slot_at(begin_ - std::chrono::microseconds(1)), 0);
  EXPECT_EQ(grid.slot_at(begin_ - milliseconds(500)), -1);
}

}  // namespace
}  // namespace wattle::daemon
