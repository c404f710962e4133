#include "sensors/powercap/counter_sensor.hpp"

#include "base/text/parse.hpp"
#include "sensors/read_status.hpp"

namespace wattle::powercap {
std::optional<std::uint64_t> parse_energy(std::string_view text, const TickScale& scale) noexcept {
  const std::optional<std::uint64_t> energy_uj = parse_counter(text);
  return energy_uj ? scale.ticks(*energy_uj) : std::nullopt;
}

CounterSensor::CounterSensor(std::vector<OpenCounter> counters, const TimeSource& clock)
    : clock_(clock) {
  for (OpenCounter& counter : counters) {
    channels_.push_back(std::move(counter.channel));
    sources_.push_back({std::move(counter.energy_uj), counter.scale});
  }
}

void CounterSensor::read_some(ChannelSet wanted, std::span<Reading> readings) noexcept {
  read_in_turn(clock_, wanted, sources_.size(), readings, [&](std::size_t i) {
    const ZoneCounter& source = sources_[i];
    return read_attribute(source.energy_uj,
                          [&](std::string_view text) { return parse_energy(text, source.scale); });
  });
}

}  // namespace wattle::powercap
