#include "sensors/powercap/counter_sensor.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/parse.hpp"
#include "sensors/read_status.hpp"

namespace wattle::powercap {
std::optional<std::uint64_t> parse_energy(std::string_view text, std::size_t capacity,
                                          const TickScale& scale) noexcept {
  if (text.size() >= capacity) return std::nullopt;  // cut off: its last digits are missing
  const std::optional<std::uint64_t> energy_uj = parse_counter(text);
  return energy_uj ? scale.ticks(*energy_uj) : std::nullopt;
}

CounterSensor::CounterSensor(std::vector<OpenCounter> counters, const Clock& clock)
    : clock_(clock) {
  for (OpenCounter& counter : counters) {
    channels_.push_back(std::move(counter.channel));
    sources_.push_back({std::move(counter.energy_uj), counter.scale});
  }
}

void CounterSensor::read_one(const Source& source, Reading& reading) noexcept {
  std::array<char, 32> text;  // 20 digits and a line end
  const ssize_t count = read_at_start(source.energy_uj.get(), text);
  if (count < 0) {
    reading.status = status_of(errno);
    return;
  }
  const auto ticks =
      parse_energy({text.data(), static_cast<std::size_t>(count)}, text.size(), source.scale);
  reading.status = ticks ? ReadStatus::ok : ReadStatus::retry;
  reading.raw = ticks.value_or(0);
}

void CounterSensor::read(std::span<Reading> readings) noexcept {
  read_some(~ChannelSet(), readings);
}

void CounterSensor::read_some(ChannelSet wanted, std::span<Reading> readings) noexcept {
  TimePoint before = clock_.now();
  for (std::size_t i = 0; i < std::min(readings.size(), sources_.size()); ++i) {
    if (!wanted[i]) continue;
    read_one(sources_[i], readings[i]);
    const TimePoint after = clock_.now();
    readings[i].half_width = (after - before) / 2;
    readings[i].at = before + readings[i].half_width;
    before = after;
  }
}

}  // namespace wattle::powercap
