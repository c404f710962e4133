// What is read of chips and batteries, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "fakes/hwmon_tree.hpp"
#include "fakes/unprivileged.hpp"
#include "sensors/hwmon/hwmon.hpp"
#include "wattle/energy_meter.hpp"
#include "wattle/error.hpp"

namespace wattle::hwmon {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

Survey survey_of(const fakes::HwmonTree& tree) { return probe(tree.system(), machine_clock(), {}); }

std::vector<Reading> read(Sensor& sensor) {
  std::vector<Reading> readings(sensor.channels().size());
  sensor.read(readings);
  return readings;
}

/// Of the only channel of the only sensor.
class OneRail : public testing::Test {
 protected:
  void open() {
    survey_ = survey_of(tree_);
    ASSERT_EQ(survey_.sensors.size(), 1U);
  }
  [[nodiscard]] Reading reading() { return read(*survey_.sensors[0]).at(0); }
  [[nodiscard]] double watts() {
    const Reading now = reading();
    EXPECT_EQ(now.status, ReadStatus::ok);
    return survey_.sensors[0]->channels()[0].scale() * static_cast<double>(now.raw);
  }

  fakes::HwmonTree tree_;
  Survey survey_;
};

TEST_F(OneRail, IsReadInItsUnit) {
  tree_.add_ina226(0, "i2c-1/1-0040");
  open();
  EXPECT_DOUBLE_EQ(watts(), 12.5);
  tree_.write(0, "power1_input", "13000000\n");
  EXPECT_DOUBLE_EQ(watts(), 13.0);
  EXPECT_EQ(survey_.sensors[0]->device()->model, "ina226");
  EXPECT_EQ(survey_.sensors[0]->device()->id, "1-0040");
  EXPECT_TRUE(survey_.sensors[0]->may_block());
  EXPECT_THAT(survey_.refused, IsEmpty());
}

TEST_F(OneRail, GivesNoValueForWhatIsNone) {
  tree_.add_ina226(0, "i2c-1/1-0040");
  open();
  for (const char* text : {"-500000\n", "", "garbage\n", "12.5\n", "18446744073709551616\n",
                           "4294967295000000\n", "11111111111111111111111111111111111111\n"}) {
    tree_.write(0, "power1_input", text);
    EXPECT_EQ(reading().status, ReadStatus::retry) << text;
  }
  tree_.write(0, "power1_input", "1\n");
  EXPECT_EQ(reading().status, ReadStatus::ok);
}

/// Grace has no meter of its memory.
TEST(HwmonGrace, HasTheMemoryThatCpuAndSysIoLeave) {
  fakes::HwmonTree tree;
  tree.add_power_meter(0, 0, "Grace Power Socket 0");
  tree.add_power_meter(1, 1, "CPU Power Socket 0");
  tree.add_power_meter(2, 2, "SysIO Power Socket 0");
  tree.write(1, "device/power1_average", "150000000\n");
  tree.write(2, "device/power1_average", "60000000\n");
  const Survey survey = survey_of(tree);
  const auto memory = [&] {
    for (const auto& sensor : survey.sensors) {
      const auto channels = sensor->channels();
      for (std::size_t i = 0; i < channels.size(); ++i) {
        if (channels[i].domain.name() == "hwmon_dram_power_socket_0") return read(*sensor).at(i);
      }
    }
    return Reading{.status = ReadStatus::gone};
  };
  EXPECT_EQ(memory().status, ReadStatus::ok);
  EXPECT_EQ(memory().raw, 40'000'000U) << "of 250 W";
  tree.write(1, "device/power1_average", "200000000\n");
  EXPECT_EQ(memory().status, ReadStatus::retry) << "read at other times: no negative power";
}

TEST_F(OneRail, OfABatteryCountsWhileItDischarges) {
  tree_.add_battery("BAT0");
  open();
  EXPECT_DOUBLE_EQ(watts(), 8.25);
  tree_.write("BAT0", "status", "Charging\n");
  EXPECT_EQ(reading().status, ReadStatus::retry) << "its power flows into it now";
  tree_.write("BAT0", "status", "Discharging\n");
  tree_.write("BAT0", "power_now", "-9000000\n");
  EXPECT_DOUBLE_EQ(watts(), 9.0) << "some drivers show what flows out as negative";
}

TEST_F(OneRail, OfABatteryIsVoltageTimesCurrent) {
  tree_.add_supply("BAT1", {{"type", "Battery\n"},
                            {"status", "Discharging\n"},
                            {"current_now", "-750000\n"},
                            {"voltage_now", "12000000\n"}});
  open();
  EXPECT_DOUBLE_EQ(watts(), 9.0);
  tree_.write("BAT1", "voltage_now", "18446744073709551615\n");
  EXPECT_EQ(reading().status, ReadStatus::retry) << "no such product";
}

TEST(Hwmon, MultipliesVoltageAndCurrentOfARail) {
  fakes::HwmonTree tree;
  tree.add_ina3221(0, "i2c-1/1-0040");
  const Survey survey = survey_of(tree);
  ASSERT_EQ(survey.sensors.size(), 1U);
  const std::vector<Reading> readings = read(*survey.sensors[0]);
  ASSERT_EQ(readings.size(), 3U);
  EXPECT_EQ(readings[0].raw, 9'500'000U);
  EXPECT_EQ(readings[1].raw, 5'000'000U);
  EXPECT_EQ(readings[2].raw, 0U);
  EXPECT_EQ(readings[2].status, ReadStatus::ok) << "nothing is a value";
}

TEST(Hwmon, KnowsAChipThatIsGone) {
  OpenDevice opened;
  opened.channels.push_back(
      {.domain = Domain::custom("hwmon", "ina226"), .metric = Metric::power_instant});
  opened.sources.push_back({});  // EBADF, as ENODEV for a chip that was taken away
  ChipSensor sensor(std::move(opened), machine_clock());
  EXPECT_EQ(read(sensor).at(0).status, ReadStatus::gone);
}

TEST(Hwmon, ReadsOnlyWhatIsWanted) {
  fakes::HwmonTree tree;
  tree.add_ina3221(0, "i2c-1/1-0040");
  const Survey survey = survey_of(tree);
  std::vector<Reading> readings(3);
  survey.sensors[0]->read_some(ChannelSet(0b010), readings);
  EXPECT_EQ(readings[0].raw, 0U);
  EXPECT_EQ(readings[1].raw, 5'000'000U);
}

TEST(Hwmon, FindsNothingAmissWhereNothingIs) {
  const fakes::HwmonTree tree;
  const Survey survey = survey_of(tree);
  EXPECT_THAT(survey.sensors, IsEmpty());
  ASSERT_EQ(survey.refused.size(), 1U);
  EXPECT_TRUE(survey.refused[0].absent);
  System nowhere = tree.system();
  nowhere.sysfs /= "nowhere";
  EXPECT_TRUE(probe(nowhere, machine_clock(), {}).refused.at(0).absent);
}

TEST(Hwmon, RefusesWhatHoldsNoNumber) {
  fakes::HwmonTree tree;
  tree.add_ina226(0, "i2c-1/1-0040");
  tree.write(0, "power1_input", "\n");
  tree.add_ina226(1, "i2c-1/1-0041");
  const Survey survey = survey_of(tree);
  EXPECT_EQ(survey.sensors.size(), 1U) << "the other is read";
  ASSERT_EQ(survey.refused.size(), 1U);
  EXPECT_EQ(survey.refused[0].domain, Domain::custom("hwmon", "ina226"));
  EXPECT_THAT(survey.refused[0].proof, HasSubstr("power1_input holds no number"));
}

TEST(Hwmon, RefusesWhatThisUserMayNotRead) {
  fakes::HwmonTree tree;
  tree.add_chip(0, "platform/amd_energy.0", "amd_energy",
                {{"energy1_input", "1\n"}, {"energy1_label", "Esocket0\n"}});
  const std::string path = (tree.chip(0) / "energy1_input").string();
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  const fakes::Unprivileged unprivileged;
  if (!unprivileged.holds()) GTEST_SKIP() << "root cannot become another user here";
  const Survey survey = survey_of(tree);
  EXPECT_THAT(survey.sensors, IsEmpty());
  ASSERT_EQ(survey.refused.size(), 1U);
  EXPECT_EQ(survey.refused[0].denied_path, path);
  EXPECT_THAT(survey.refused[0].proof, HasSubstr("mode 0000"));
}

TEST(Hwmon, IsMeasuredByAMeterThatNamesIt) {
  fakes::HwmonTree tree;
  tree.add_ina226(0, "i2c-1/1-0040");
  System system = tree.system();
  system.nvml_library = (tree.system().sysfs / "nothing").string();
  EnergyMeter meter({.domains = std::vector{Domain::parse("hwmon_ina226")}, .system = system});
  meter.start("x");
  std::this_thread::sleep_for(20ms);
  meter.stop();
  const EnergySample sample = meter.trace()["x"];
  const MeasuredEnergy energy = sample.energy("hwmon_ina226");
  ASSERT_TRUE(energy.energy);
  EXPECT_NEAR(energy.energy->si(), 12.5 * (sample.duration() - energy.unknown).count(), 1e-3);
  EXPECT_THROW(EnergyMeter({.system = system}), NoSuchDevice) << "it is never added by itself";
}

TEST(Hwmon, DoesNotWaitForAChipThatDoesNotAnswer) {
  fakes::HwmonTree tree;
  tree.add_ina226(0, "i2c-1/1-0040");
  tree.add_ina226(1, "i2c-1/1-0041");
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  const Survey survey =
      probe_within(tree.system(), machine_clock(), 50ms, [released](const HwmonDevice& device) {
        if (device.info.id == "1-0040") released.wait();
        return open_device(device);
      });
  release.set_value();
  EXPECT_EQ(survey.sensors.size(), 1U);
  ASSERT_EQ(survey.refused.size(), 1U);
  EXPECT_THAT(survey.refused[0].reason, HasSubstr("did not answer within 0.05 s"));
}

}  // namespace
}  // namespace wattle::hwmon
