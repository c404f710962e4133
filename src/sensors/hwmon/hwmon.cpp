#include "sensors/hwmon/hwmon.hpp"

#include <cerrno>
#include <chrono>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/call_with_deadline.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "sensors/examination.hpp"
#include "sensors/hwmon/device.hpp"
#include "sensors/hwmon/diagnosis.hpp"

namespace wattle::hwmon {
namespace {

/// A reading that takes longer than this is done about once a second.

/// No rail draws more: what drivers pass on for "unknown" is more.
constexpr auto kMostMicrowatts =
    static_cast<std::uint64_t>(traits_of(DomainKind::custom).max_power.si() * 1e6);

/// Errors that may pass: the device sleeps, or the bus is busy.
bool may_pass(int error) noexcept {
  return error == EAGAIN || error == EBUSY || error == EINTR || error == ETIMEDOUT;
}

/// Batteries show a current out of them as negative.
AttributeValue read_number(const Fd& file, bool is_battery) noexcept {
  return read_attribute(file, [&](std::string_view digits) {
    if (is_battery) take_prefix(digits, "-");
    return parse_counter(digits);
  });
}

/// A number where the status is that of a battery in use.
AttributeValue read_discharging(const Fd& status) noexcept {
  return read_attribute(status, [](std::string_view word) {
    return trimmed(word, " \n") == kDischarging ? std::optional<std::uint64_t>(1) : std::nullopt;
  });
}

/// Empty where one of its files cannot be opened: `errno` and `failed` say which.
std::optional<ChannelFiles> open_files(const Files& files, bool is_power, std::string& failed) {
  ChannelFiles source{.value = {}, .divisor = files.divisor, .is_power = is_power};
  for (const auto& [path, file] :
       {std::pair(&files.value, &source.value),
        std::pair(&files.less.front(), &source.less.front()),
        std::pair(&files.less.back(), &source.less.back()),
        std::pair(&files.factor, &source.factor), std::pair(&files.status, &source.status)}) {
    if (path->empty()) continue;
    *file = open_for_reading(*path);
    if (*file) continue;
    failed = *path;
    return std::nullopt;
  }
  return source;
}

}  // namespace

AttributeValue read_value(const ChannelFiles& source) noexcept {
  const bool is_battery = static_cast<bool>(source.status);
  if (is_battery) {
    const AttributeValue discharging = read_discharging(source.status);
    if (!discharging.raw) return discharging;
  }
  AttributeValue value = read_number(source.value, is_battery);
  if (!value.raw) return value;
  if (source.factor) {
    const AttributeValue factor = read_number(source.factor, is_battery);
    std::uint64_t product = 0;
    if (!factor.raw || __builtin_mul_overflow(*value.raw, *factor.raw, &product)) {
      return {.error = factor.error};
    }
    value.raw = product / source.divisor;
  }
  for (const Fd& file : source.less) {
    if (!file) continue;
    const AttributeValue less = read_number(file, is_battery);
    if (!less.raw || *less.raw > *value.raw) return {.error = less.error};
    value.raw = *value.raw - *less.raw;
  }
  if (source.is_power && *value.raw > kMostMicrowatts) return {};
  return value;
}

OpenDevice open_device(const HwmonDevice& device) {
  OpenDevice opened{.info = device.info};
  for (const PlannedChannel& found : device.found) {
    const bool is_power = found.channel.metric != Metric::energy;
    std::string failed;
    std::optional<ChannelFiles> source = open_files(found.files, is_power, failed);
    int error = errno;
    const Clock::time_point before = Clock::now();
    AttributeValue value;
    if (source) {
      value = read_value(*source);
      error = value.error;
      failed = found.files.value;
    }
    // A battery was just seen to discharge; a number that is negative now may not be later.
    if (source && (value.raw || may_pass(error))) {
      opened.channels.push_back(found.channel);
      opened.channels.back().costly = Clock::now() - before > kCostlyRead;
      opened.sources.push_back(*std::move(source));
    } else if (found.channel.gives_energy()) {
      opened.refused.push_back(unreadable(found.channel, failed, error));
    }
  }
  return opened;
}

void ChipSensor::read_some(ChannelSet wanted, std::span<Reading> readings) noexcept {
  read_in_turn(clock_, wanted, opened_.sources.size(), readings,
               [&](std::size_t i) { return read_value(opened_.sources[i]); });
}

Survey probe_within(const System& system, const TimeSource& clock,
                    std::chrono::nanoseconds deadline,
                    const std::function<OpenDevice(const HwmonDevice&)>& open) {
  Devices found = find_devices(system);
  Survey survey;
  survey.refused = std::move(found.refused);
  const std::vector<HwmonDevice>& devices = found.devices;
  if (devices.empty() && survey.refused.empty()) survey.refused.push_back(nothing_found(system));
  add_examined(
      survey,
      call_with_deadline<OpenDevice>(
          devices.size(), deadline,
          [devices, open](std::size_t i, const auto&) { return open(devices[i]); }),
      [&](std::size_t i) { return no_answer(devices[i], deadline); },
      [&](OpenDevice device) { return std::make_unique<ChipSensor>(std::move(device), clock); });
  return survey;
}

Survey probe(const System& system, const TimeSource& clock, const std::set<Domain>& /*taken*/) {
  return probe_within(system, clock, kProbeDeadline);
}

}  // namespace wattle::hwmon
