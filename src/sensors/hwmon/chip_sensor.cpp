#include "sensors/hwmon/chip_sensor.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>

#include "base/parse.hpp"
#include "sensors/hwmon/diagnosis.hpp"
#include "sensors/read_status.hpp"

namespace wattle::hwmon {
namespace {

/// A reading that takes longer than this is done about once a second.
constexpr std::chrono::nanoseconds kCostlyRead = std::chrono::milliseconds(1);

/// No rail draws more: what drivers pass on for "unknown" is more.
constexpr auto kMostMicrowatts =
    static_cast<std::uint64_t>(traits_of(DomainKind::custom).max_power.si() * 1e6);

/// What may pass: the device sleeps, or the bus is busy.
bool may_pass(int error) noexcept {
  return error == EAGAIN || error == EBUSY || error == EINTR || error == ETIMEDOUT;
}

struct Text {
  std::array<char, 32> buffer{};
  std::size_t size = 0;
  [[nodiscard]] std::string_view view() const noexcept { return {buffer.data(), size}; }
};

/// 0, or the `errno`.
int read_text(const Fd& file, Text& text) noexcept {
  const ssize_t count = read_at_start(file.get(), text.buffer);
  if (count < 0) return errno;
  text.size = static_cast<std::size_t>(count);
  return 0;
}

/// A number that fills the buffer may be cut off. Batteries show a current out of them as negative.
Value read_number(const Fd& file, bool is_battery) noexcept {
  Text text;
  if (const int error = read_text(file, text); error != 0) return {.error = error};
  std::string_view digits = text.view();
  if (digits.size() == text.buffer.size()) return {};
  if (is_battery && digits.starts_with('-')) digits.remove_prefix(1);
  return {.raw = parse_counter(digits)};
}

bool discharges(const Fd& status, int& error) noexcept {
  Text text;
  error = read_text(status, text);
  std::string_view word = text.view();
  while (!word.empty() && (word.back() == '\n' || word.back() == ' ')) word.remove_suffix(1);
  return error == 0 && word == kDischarging;
}

/// Empty where one of its files cannot be opened: `errno` and `failed` say which.
std::optional<Source> open_files(const Files& files, bool is_power, std::string& failed) {
  Source source{.value = {}, .divisor = files.divisor, .is_power = is_power};
  for (const auto& [path, file] :
       {std::pair(&files.value, &source.value), std::pair(&files.factor, &source.factor),
        std::pair(&files.status, &source.status)}) {
    if (path->empty()) continue;
    *file = open_for_reading(*path);
    if (*file) continue;
    failed = *path;
    return std::nullopt;
  }
  return source;
}

}  // namespace

Value read_value(const Source& source) noexcept {
  const bool is_battery = static_cast<bool>(source.status);
  if (is_battery) {
    int error = 0;
    if (!discharges(source.status, error)) return {.error = error};
  }
  Value value = read_number(source.value, is_battery);
  if (!value.raw) return value;
  if (source.factor) {
    const Value factor = read_number(source.factor, is_battery);
    std::uint64_t product = 0;
    if (!factor.raw || __builtin_mul_overflow(*value.raw, *factor.raw, &product)) {
      return {.error = factor.error};
    }
    value.raw = product / source.divisor;
  }
  if (source.is_power && *value.raw > kMostMicrowatts) return {};
  return value;
}

Opened open_device(const Device& device) {
  using Clock = std::chrono::steady_clock;
  Opened opened{.info = device.info};
  for (const Found& found : device.found) {
    const bool is_power = found.channel.metric != Metric::energy;
    std::string failed;
    std::optional<Source> source = open_files(found.files, is_power, failed);
    int error = errno;
    const Clock::time_point before = Clock::now();
    Value value;
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
    } else if (found.channel.tells_energy()) {
      opened.refused.push_back(unreadable(found.channel, failed, error));
    }
  }
  return opened;
}

void ChipSensor::read(std::span<Reading> readings) noexcept { read_some(~ChannelSet(), readings); }

void ChipSensor::read_some(ChannelSet wanted, std::span<Reading> readings) noexcept {
  TimePoint before = clock_.now();
  for (std::size_t i = 0; i < std::min(readings.size(), opened_.sources.size()); ++i) {
    if (!wanted[i]) continue;
    const Value value = read_value(opened_.sources[i]);
    const TimePoint after = clock_.now();
    const auto half_width = (after - before) / 2;
    readings[i] = {.at = before + half_width,
                   .half_width = half_width,
                   .raw = value.raw.value_or(0),
                   .status = value.raw ? ReadStatus::ok : status_of(value.error)};
    before = after;
  }
}

}  // namespace wattle::hwmon
