#include "sensors/perf/event_sensor.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <utility>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "sensors/read_status.hpp"

namespace wattle::perf {
namespace {

/// The kernel hands out energy in 2^-32 J, whatever the register counts in: it shifts the register
/// left (`rapl_scale` in arch/x86/events/rapl.c). The finest register of any processor it knows
/// counts in 2^-16 J, so that many low bits are 0.
constexpr int kFinestRegister = -16;

/// The kernel takes a 32-bit register's advance as a signed number (`rapl_event_update`): from
/// half a turn on, which is 2^31 ticks of at least 2^-16 J, it counts backwards.
constexpr double kFollowedJoules = 32768.0;

int open_event(const perf_event_attr& event, int cpu, int group) noexcept {
  constexpr pid_t kEveryProcess = -1;
  // perf_event_open(2) has no wrapper in the C library.
  return static_cast<int>(
      ::syscall(SYS_perf_event_open, &event, kEveryProcess, cpu, group, PERF_FLAG_FD_CLOEXEC));
}

ssize_t read_event(int fd, void* buffer, std::size_t bytes) noexcept {
  return ::read(fd, buffer, bytes);
}

constexpr SystemCalls kKernelCalls{.open_event = open_event, .read = read_event};

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

std::optional<std::uint64_t> parse_event(std::string_view text) noexcept {
  if (!take_prefix(text, "event=")) return std::nullopt;
  const int base = take_prefix(text, "0x") ? 16 : 10;
  return parse_unsigned<std::uint64_t>(text, base);
}

std::optional<EventScale> parse_scale(std::string_view text) noexcept {
  // Far beyond any unit on both sides, and harmless to compute with.
  constexpr double kSmallest = 1e-12;
  constexpr double kLargest = 1e3;
  const std::optional<double> joules = parse_double(text);
  if (!joules || *joules < kSmallest || *joules > kLargest) return std::nullopt;
  EventScale scale{.tick = Joules(*joules)};
  int exponent = 0;
  const bool is_power_of_two = std::frexp(*joules, &exponent) == 0.5;
  --exponent;  // frexp counts from a half
  if (is_power_of_two && exponent < kFinestRegister) {
    scale.shift = static_cast<unsigned>(kFinestRegister - exponent);
    scale.tick = Joules(std::ldexp(1.0, kFinestRegister));
  }
  scale.followed_ticks = static_cast<std::uint64_t>(kFollowedJoules / scale.tick.si());
  return scale;
}

bool is_joules(std::string_view unit) noexcept { return unit == "Joules"; }

const SystemCalls& kernel_calls() noexcept { return kKernelCalls; }

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
