#include "sensors/perf/event_sensor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "fakes/perf_pmu.hpp"
#include "fakes/virtual_clock.hpp"

namespace wattle::perf {
namespace {

using namespace std::chrono_literals;
using fakes::kPackageEvent;
using fakes::kRamEvent;
using testing::Each;
using testing::Field;

/// Counts of the kernel, from ticks of 2^-16 J.
constexpr std::uint64_t count_of(std::uint64_t ticks) { return ticks << 16U; }

/// A sensor of two packages' events, package 0 on CPU 0 and package 1 on CPU 8.
class EventSensorTest : public testing::Test {
 protected:
  Fd open_event(int cpu, std::uint64_t config, int leader) {
    perf_event_attr attributes{};
    attributes.config = config;
    attributes.read_format = group_read_format();
    return Fd(events_.calls().open_event(attributes, cpu, leader));
  }
  OpenEvent event(Domain domain, int cpu, std::uint64_t config, const EventGroup& group) {
    return {.channel = {.domain = domain},
            .scale = parse_scale(fakes::kPerfScale).value(),
            .file = open_event(cpu, config, group.empty() ? -1 : group.front().file.get())};
  }
  /// package_N and dram_N in one group.
  EventGroup group_of(std::uint32_t package, int cpu) {
    EventGroup group;
    group.push_back(event(Domain::package(package), cpu, kPackageEvent, group));
    group.push_back(event(Domain::dram(package), cpu, kRamEvent, group));
    return group;
  }
  EventSensor sensor_of(EventGroup group) {
    std::vector<EventGroup> groups;
    groups.push_back(std::move(group));
    return {std::move(groups), clock_, events_.calls()};
  }
  static std::vector<Reading> read(EventSensor& sensor) {
    std::vector<Reading> readings(sensor.channels().size());
    sensor.read(readings);
    return readings;
  }

  fakes::FakeEvents events_;
  fakes::VirtualClock clock_;
};

TEST_F(EventSensorTest, ReadsAGroupInOneCallAtOneTime) {
  clock_.advance_at_each_look(10us);
  EventSensor sensor = sensor_of(group_of(0, 0));
  events_.set_count(0, kPackageEvent, count_of(100));
  events_.set_count(0, kRamEvent, count_of(7));
  const TimePoint begin = clock_.at();
  const std::vector<Reading> readings = read(sensor);
  EXPECT_EQ(events_.reads(), 1);
  EXPECT_EQ(readings[0].raw, 100U);
  EXPECT_EQ(readings[1].raw, 7U);
  EXPECT_THAT(readings, Each(Field(&Reading::status, ReadStatus::ok)));
  EXPECT_THAT(readings, Each(Field(&Reading::at, begin + 5us)));
  EXPECT_THAT(readings, Each(Field(&Reading::half_width, std::chrono::nanoseconds(5us))));
}

TEST_F(EventSensorTest, ReadsEachGroupByItself) {
  clock_.advance_at_each_look(10us);
  std::vector<EventGroup> groups;
  groups.push_back(group_of(0, 0));
  groups.push_back(group_of(1, 8));
  EventSensor sensor(std::move(groups), clock_, events_.calls());
  events_.set_count(0, kRamEvent, count_of(5));
  events_.set_count(8, kPackageEvent, count_of(6));
  const TimePoint begin = clock_.at();
  const std::vector<Reading> readings = read(sensor);
  ASSERT_EQ(readings.size(), 4U);
  EXPECT_EQ(sensor.channels()[2].domain, Domain::package(1));
  EXPECT_EQ(readings[1].raw, 5U);
  EXPECT_EQ(readings[2].raw, 6U);
  EXPECT_EQ(readings[1].at, begin + 5us);
  EXPECT_EQ(readings[2].at, begin + 15us) << "the end of one is the start of the next";
}

TEST_F(EventSensorTest, GivesCountsBeyondThirtyTwoBits) {
  EventSensor sensor = sensor_of(group_of(0, 0));
  events_.set_count(0, kPackageEvent, count_of(0x1'2345'6789));
  EXPECT_EQ(read(sensor)[0].raw, 0x1'2345'6789U);
}

TEST_F(EventSensorTest, CallsAnEventThatNoLongerAgesGone) {
  EventSensor sensor = sensor_of(group_of(0, 0));
  (void)read(sensor);
  EXPECT_THAT(read(sensor), Each(Field(&Reading::status, ReadStatus::ok)))
      << "a count that stands still is a value";
  events_.freeze(0);
  EXPECT_THAT(read(sensor), Each(Field(&Reading::status, ReadStatus::gone)));
  EXPECT_THAT(read(sensor), Each(Field(&Reading::status, ReadStatus::gone))) << "and it stays so";
}

TEST_F(EventSensorTest, CallsAGroupThatFellApartGone) {
  EventSensor sensor = sensor_of(group_of(0, 0));
  (void)read(sensor);
  events_.tear_groups();
  EXPECT_THAT(read(sensor), Each(Field(&Reading::status, ReadStatus::gone)));
}

TEST_F(EventSensorTest, CallsAnEmptyReadGone) {
  EventSensor sensor = sensor_of(group_of(0, 0));
  events_.cut_reads_to(0);
  EXPECT_THAT(read(sensor), Each(Field(&Reading::status, ReadStatus::gone)));
}

TEST_F(EventSensorTest, CallsAReadWithoutItsLastCountGone) {
  EventSensor sensor = sensor_of(group_of(0, 0));
  events_.cut_reads_to(3 * sizeof(std::uint64_t));
  EXPECT_THAT(read(sensor), Each(Field(&Reading::status, ReadStatus::gone)));
}

TEST_F(EventSensorTest, DistinguishesWhatIsGoneFromWhatIsToBeTriedAgain) {
  EventSensor sensor = sensor_of(group_of(0, 0));
  for (const int error : {ENODEV, ENXIO, EBADF}) {
    events_.fail_to_read(error);
    EXPECT_THAT(read(sensor), Each(Field(&Reading::status, ReadStatus::gone))) << error;
  }
  for (const int error : {EINTR, EAGAIN, EIO, EBUSY}) {
    events_.fail_to_read(error);
    EXPECT_THAT(read(sensor), Each(Field(&Reading::status, ReadStatus::retry))) << error;
  }
  events_.fail_to_read(0);
  EXPECT_THAT(read(sensor), Each(Field(&Reading::status, ReadStatus::ok))) << "and it recovers";
}

TEST_F(EventSensorTest, OfOnePackageThatIsGoneDoesNotHideAnother) {
  std::vector<EventGroup> groups;
  groups.push_back(group_of(0, 0));
  groups.push_back(group_of(1, 8));
  EventSensor sensor(std::move(groups), clock_, events_.calls());
  (void)read(sensor);
  events_.freeze(0);
  const std::vector<Reading> readings = read(sensor);
  EXPECT_EQ(readings[0].status, ReadStatus::gone);
  EXPECT_EQ(readings[2].status, ReadStatus::ok);
}

}  // namespace
}  // namespace wattle::perf
