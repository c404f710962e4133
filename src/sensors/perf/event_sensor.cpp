#include "sensors/perf/event_sensor.hpp"

#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "sensors/read_status.hpp"

namespace wattle::perf {
namespace {

/// The data of one read of a group (perf_event_open(2), PERF_FORMAT_GROUP).
struct GroupValues {
  std::uint64_t members;
  std::uint64_t running_ns;
  std::array<std::uint64_t, kMostInGroup> counts;
};

constexpr std::size_t bytes_of_group(std::size_t members) noexcept {
  return sizeof(GroupValues) - (kMostInGroup - members) * sizeof(std::uint64_t);
}

}  // namespace

std::uint64_t group_read_format() noexcept {
  return PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_RUNNING;
}

EventSensor::EventSensor(std::vector<EventGroup> groups, const TimeSource& clock,
                         const SystemCalls& calls)
    : clock_(clock), calls_(calls) {
  for (EventGroup& events : groups) {
    OpenEvents group;
    for (OpenEvent& event : events) {
      channels_.push_back(std::move(event.channel));
      group.files.push_back(std::move(event.file));
      group.scales.push_back(event.scale);
    }
    groups_.push_back(std::move(group));
  }
}

void EventSensor::read_group(OpenEvents& group, std::span<Reading> readings) noexcept {
  GroupValues values{};
  const std::size_t wanted = bytes_of_group(group.files.size());
  const ssize_t count = calls_.read(group.files.front().get(), &values, wanted);
  ReadStatus status = ReadStatus::ok;
  if (count < 0) {
    status = status_of(errno);
  } else if (static_cast<std::size_t>(count) != wanted || values.members != group.files.size() ||
             values.running_ns == group.running_ns) {
    // Nothing is read from an event whose PMU is gone; the group of a CPU that went offline falls
    // apart, so that its leader stands alone and shows its last count for ever. An event that
    // counts gets older from read to read, for its clock has nanoseconds.
    status = ReadStatus::gone;
  }
  if (status == ReadStatus::ok) group.running_ns = values.running_ns;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    readings[i].status = status;
    readings[i].raw = status == ReadStatus::ok ? group.scales[i].ticks(values.counts.at(i)) : 0;
  }
}

void EventSensor::read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept {
  TimePoint before = clock_.now();
  for (OpenEvents& group : groups_) {
    const std::span<Reading> own = readings.first(std::min(readings.size(), group.files.size()));
    readings = readings.subspan(own.size());
    read_group(group, own);
    const TimePoint after = clock_.now();
    for (Reading& reading : own) {
      reading = reading_between(before, after, reading.raw, reading.status);
    }
    before = after;
  }
}

}  // namespace wattle::perf
