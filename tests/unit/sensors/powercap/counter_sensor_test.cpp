#include "sensors/powercap/counter_sensor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fakes/powercap_tree.hpp"
#include "fakes/temp_folder.hpp"
#include "fakes/virtual_clock.hpp"

namespace wattle::powercap {
namespace {

using namespace std::chrono_literals;

TEST(ParseEnergy, GivesTicks) {
  const TickScale scale = identify_scale(fakes::kPackageUnit.range_uj());
  const std::string text = std::to_string(fakes::kPackageUnit.energy_uj(123456)) + "\n";
  EXPECT_EQ(parse_energy(text, scale), 123456U);
}

TEST(ParseEnergy, RefusesWhatIsNoEnergy) {
  const TickScale scale = identify_scale(fakes::kPackageUnit.range_uj());
  for (const char* text : {"", "\n", "-1\n", "0x10\n", "1 2\n", "garbage\n", "1.5\n",
                           "99999999999999999999\n", "18446744073709551615\n"}) {
    EXPECT_EQ(parse_energy(text, scale), std::nullopt) << text;
  }
}

/// A sensor over files that the test writes.
class CounterSensorTest : public testing::Test {
 protected:
  OpenCounter counter(const std::string& name, std::string_view content, Domain domain) {
    write(name, content);
    return {.channel = {.domain = domain},
            .energy_uj = open_for_reading((folder_.path() / name).string()),
            .scale = identify_scale(std::nullopt)};
  }
  void write(const std::string& name, std::string_view content) { folder_.write(name, content); }
  Reading read_one(Sensor& sensor) {
    std::vector<Reading> readings(1);
    sensor.read(readings);
    return readings[0];
  }
  std::unique_ptr<CounterSensor> sensor_of(std::string_view content) {
    std::vector<OpenCounter> counters;
    counters.push_back(counter("energy_uj", content, Domain::package(0)));
    return std::make_unique<CounterSensor>(std::move(counters), clock_);
  }

  fakes::TempFolder folder_;
  fakes::VirtualClock clock_;
};

TEST_F(CounterSensorTest, ReadsEveryCounterInTheOrderOfItsChannels) {
  std::vector<OpenCounter> counters;
  counters.push_back(counter("a", "11\n", Domain::package(0)));
  counters.push_back(counter("b", "22\n", Domain::dram(0)));
  CounterSensor sensor(std::move(counters), clock_);
  ASSERT_EQ(sensor.channels().size(), 2U);
  EXPECT_EQ(sensor.channels()[1].domain, Domain::dram(0));
  std::vector<Reading> readings(2);
  sensor.read(readings);
  EXPECT_EQ(readings[0].raw, 11U);
  EXPECT_EQ(readings[1].raw, 22U);
  EXPECT_EQ(readings[0].status, ReadStatus::ok);
  EXPECT_EQ(readings[1].status, ReadStatus::ok);
}

TEST_F(CounterSensorTest, ReadsOnlyWhatIsAskedFor) {
  std::vector<OpenCounter> counters;
  counters.push_back(counter("a", "11\n", Domain::package(0)));
  counters.push_back(counter("b", "22\n", Domain::dram(0)));
  CounterSensor sensor(std::move(counters), clock_);
  std::vector<Reading> readings(2);
  readings[0].raw = 7;
  sensor.read_some(0b10, readings);
  EXPECT_EQ(readings[0].raw, 7U) << "left as it was";
  EXPECT_EQ(readings[1].raw, 22U);
}

TEST_F(CounterSensorTest, StampsTheMiddleBetweenTheClockBeforeAndAfter) {
  clock_.advance_at_each_look(10us);
  std::vector<OpenCounter> counters;
  counters.push_back(counter("a", "1\n", Domain::package(0)));
  counters.push_back(counter("b", "2\n", Domain::dram(0)));
  CounterSensor sensor(std::move(counters), clock_);
  std::vector<Reading> readings(2);
  const TimePoint begin = clock_.at();
  sensor.read(readings);
  EXPECT_EQ(readings[0].at, begin + 5us);
  EXPECT_EQ(readings[0].half_width, 5us);
  EXPECT_EQ(readings[1].at, begin + 15us) << "the end of one is the start of the next";
  EXPECT_EQ(clock_.at(), begin + 30us) << "three looks at the clock for two counters";
}

TEST_F(CounterSensorTest, SeesTheFileAsItIsAtEachRead) {
  const auto sensor = sensor_of("1\n");
  EXPECT_EQ(read_one(*sensor).raw, 1U);
  write("energy_uj", "2\n");
  EXPECT_EQ(read_one(*sensor).raw, 2U);
}

TEST_F(CounterSensorTest, ValueThatIsNoneIsToBeTriedAgain) {
  const auto sensor = sensor_of("1\n");
  for (const char* content :
       {"", "\n", "garbage\n", "-1\n", "99999999999999999999\n", "18446744073709551615\n"}) {
    write("energy_uj", content);
    EXPECT_EQ(read_one(*sensor).status, ReadStatus::retry) << content;
  }
  write("energy_uj", std::string(1'000'000, '1'));
  EXPECT_EQ(read_one(*sensor).status, ReadStatus::retry) << "huge";
  write("energy_uj", std::string(sizeof(AttributeText), '0'));
  EXPECT_EQ(read_one(*sensor).status, ReadStatus::retry) << "its end was not seen";
  write("energy_uj", std::string(sizeof(AttributeText) - 1, '0'));
  EXPECT_EQ(read_one(*sensor).status, ReadStatus::ok);
  write("energy_uj", "3\n");
  EXPECT_EQ(read_one(*sensor).status, ReadStatus::ok) << "and it recovers";
}

TEST_F(CounterSensorTest, ReadThatFailsIsToBeTriedAgain) {
  std::vector<OpenCounter> counters;
  counters.push_back({.channel = {.domain = Domain::package(0)},
                      .energy_uj = open_for_reading(folder_.path().string()),  // EISDIR
                      .scale = {}});
  CounterSensor sensor(std::move(counters), clock_);
  EXPECT_EQ(read_one(sensor).status, ReadStatus::retry);
}

TEST_F(CounterSensorTest, FileThatIsDeadIsGone) {
  std::vector<OpenCounter> counters;
  counters.push_back({.channel = {.domain = Domain::package(0)},
                      .energy_uj = Fd{},  // EBADF, as ENODEV for a zone that was unregistered
                      .scale = {}});
  CounterSensor sensor(std::move(counters), clock_);
  EXPECT_EQ(read_one(sensor).status, ReadStatus::gone);
}

TEST_F(CounterSensorTest, OneThatFailsDoesNotHideTheOthers) {
  std::vector<OpenCounter> counters;
  counters.push_back(counter("a", "garbage\n", Domain::package(0)));
  counters.push_back(counter("b", "22\n", Domain::dram(0)));
  CounterSensor sensor(std::move(counters), clock_);
  std::vector<Reading> readings(2);
  sensor.read(readings);
  EXPECT_EQ(readings[0].status, ReadStatus::retry);
  EXPECT_EQ(readings[1].status, ReadStatus::ok);
}

}  // namespace
}  // namespace wattle::powercap
