// HPE Cray's counters of a node: what is found, read and refused.
#include "sensors/cray/cray.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fakes/cray_node.hpp"
#include "fakes/unprivileged.hpp"
#include "fakes/virtual_clock.hpp"

namespace wattle::cray {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

TEST(CrayCounterFile, HasAValueItsUnitAndATime) {
  const auto value = parse_stated_value("46378192 J 1429816347613478 us\n", "J");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->raw, 46'378'192U);
  EXPECT_EQ(value->at_us, 1'429'816'347'613'478U);
  EXPECT_EQ(parse_stated_value("18446744073709551615 W 18446744073709551615 us\n", "W")->raw,
            UINT64_MAX);
  EXPECT_EQ(parse_stated_value("12 J\n", "J")->at_us, 0U);
}

TEST(CrayCounterFile, HasNoValueInAnotherForm) {
  for (const char* text :
       {"", "\n", "12\n", "12 W 1 us\n", "12 mJ 1 us\n", "-12 J 1 us\n", "1.5 J 1 us\n", "J 12\n",
        "12 J soon us\n", "12 J 1 s\n", "12 J 1 us 2\n", "18446744073709551616 J 1 us\n"}) {
    EXPECT_FALSE(parse_stated_value(text, "J")) << text;
  }
}

TEST(CrayCounterFile, IsKnownByItsName) {
  EXPECT_EQ(parse_counter_name("energy")->part, "node");
  EXPECT_EQ(parse_counter_name("cpu_energy")->part, "cpu");
  EXPECT_EQ(parse_counter_name("accel3_power")->metric, Metric::power_instant);
  for (const char* name : {"power_cap", "accel0_power_cap", "cpu0_temp", "freshness", "", "_energy",
                           "0_energy", "other_energy", "cpu_", "cpuenergy"}) {
    EXPECT_FALSE(parse_counter_name(name)) << name;
  }
  EXPECT_EQ(parse_counter_name("accel123456789_power")->part, "accel123456789");
  EXPECT_FALSE(parse_counter_name("accel" + std::string(60, '7') + "_power"))
      << "no domain has so long a name";
}

class CrayProbe : public testing::Test {
 protected:
  Survey probe() { return cray::probe(node_.system(), clock_, {}); }
  /// Opens the node's sensor.
  void open() {
    Survey found = probe();
    ASSERT_THAT(found.sensors, SizeIs(1));
    EXPECT_THAT(found.refused, IsEmpty());
    sensor_ = std::move(found.sensors[0]);
  }
  /// Of the node's energy.
  Reading energy() {
    std::vector<Reading> readings(sensor_->channels().size());
    sensor_->read(readings);
    const auto channels = sensor_->channels();
    const auto node = std::ranges::find_if(channels, [](const Channel& channel) {
      return channel.domain.name() == "cray_node" && channel.metric == Metric::energy;
    });
    return readings.at(static_cast<std::size_t>(node - channels.begin()));
  }

  fakes::CrayNode node_;
  fakes::VirtualClock clock_;
  std::unique_ptr<Sensor> sensor_;
};

TEST_F(CrayProbe, FindsTheNodeAndWhatLiesInIt) {
  open();
  std::set<std::string> names;
  for (const Channel& channel : sensor_->channels()) {
    const std::string name = channel.domain.name();
    names.insert(name);
    EXPECT_EQ(channel.contained_in,
              name == "cray_node" ? std::nullopt : std::optional(Domain::custom("cray", "node")));
    EXPECT_DOUBLE_EQ(channel.scale(), 1.0) << "J and W";
  }
  EXPECT_THAT(names,
              ElementsAre("cray_accel0", "cray_accel1", "cray_cpu", "cray_memory", "cray_node"))
      << "not accel2, where nothing is plugged in";
  EXPECT_THAT(sensor_->channels(), SizeIs(10));
  EXPECT_EQ(energy().raw, 46'378'192U);
}

TEST_F(CrayProbe, IsAbsentOnOtherMachines) {
  std::filesystem::remove_all(node_.path("energy").parent_path());
  const Survey found = probe();
  EXPECT_THAT(found.sensors, IsEmpty());
  ASSERT_THAT(found.refused, SizeIs(1));
  EXPECT_TRUE(found.refused[0].absent);
}

TEST_F(CrayProbe, RefusesACounterThatHoldsNoEnergyAndReadsTheOthers) {
  node_.write("cpu_energy", "not available\n");
  const Survey found = probe();
  ASSERT_THAT(found.refused, SizeIs(1));
  EXPECT_EQ(found.refused[0].subject, "cray_cpu");
  EXPECT_THAT(found.refused[0].proof, HasSubstr("cpu_energy holds no number with its unit"));
  ASSERT_THAT(found.sensors, SizeIs(1));
  EXPECT_THAT(found.sensors[0]->channels(), SizeIs(9)) << "its power is there";
}

TEST_F(CrayProbe, SaysWhoMayNotReadACounter) {
  std::filesystem::permissions(node_.path("energy"), std::filesystem::perms::none);
  const fakes::Unprivileged unprivileged;
  if (!unprivileged.holds()) GTEST_SKIP() << "root cannot become another user here";
  const Survey found = probe();
  ASSERT_THAT(found.refused, SizeIs(1));
  EXPECT_EQ(found.refused[0].denied_path, node_.path("energy"));
  EXPECT_THAT(found.refused[0].remedy, HasSubstr("administrators"));
}

TEST_F(CrayProbe, ReadsAValueThatIsNotRenewedAsStale) {
  open();
  EXPECT_EQ(energy().status, ReadStatus::ok);
  clock_.advance(900ms);
  EXPECT_EQ(energy().status, ReadStatus::ok) << "it may have been late";
  clock_.advance(200ms);
  EXPECT_EQ(energy().status, ReadStatus::stale);
  node_.set("energy", 46'378'192, "J");
  EXPECT_EQ(energy().status, ReadStatus::ok) << "the same energy at a new time";
}

TEST_F(CrayProbe, TriesAgainWhereAFileHoldsNoValueNow) {
  open();
  for (const char* text : {"", "garbage\n", "12 W 1 us\n"}) {
    node_.write("energy", text);
    EXPECT_EQ(energy().status, ReadStatus::retry) << text;
  }
  node_.set("energy", 5, "J");
  EXPECT_EQ(energy().status, ReadStatus::ok) << "a controller that restarted counts from 0";
}

}  // namespace
}  // namespace wattle::cray
