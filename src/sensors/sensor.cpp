#include "sensors/sensor.hpp"

namespace wattle {

std::string_view to_string(Metric metric) noexcept {
  switch (metric) {
    case Metric::energy:
      return "energy";
    case Metric::power_instant:
      return "power_instant";
    case Metric::power_average:
      return "power_average";
    case Metric::power_memory:
      return "power_memory";
    case Metric::power_limit:
      return "power_limit";
    case Metric::utilization:
      return "utilization";
    case Metric::memory_utilization:
      return "memory_utilization";
    case Metric::memory_used:
      return "memory_used";
    case Metric::memory_total:
      return "memory_total";
    case Metric::temperature:
      return "temperature";
    case Metric::clock_sm:
      return "clock_sm";
    case Metric::clock_memory:
      return "clock_memory";
  }
  return "unknown";
}

std::string_view unit_of(Metric metric) noexcept {
  switch (metric) {
    case Metric::energy:
      return "J";
    case Metric::power_instant:
    case Metric::power_average:
    case Metric::power_memory:
    case Metric::power_limit:
      return "W";
    case Metric::utilization:
    case Metric::memory_utilization:
      return "%";
    case Metric::memory_used:
    case Metric::memory_total:
      return "B";
    case Metric::temperature:
      return "°C";
    case Metric::clock_sm:
    case Metric::clock_memory:
      return "Hz";
  }
  return "";
}

std::string_view to_string(Scope scope) noexcept {
  switch (scope) {
    case Scope::device:
      return "device";
    case Scope::module:
      return "module";
    case Scope::memory:
      return "memory";
  }
  return "unknown";
}

bool is_gpu(const Sensor& sensor) noexcept {
  return !sensor.channels().empty() &&
         sensor.channels().front().domain.category() == DomainCategory::gpu;
}

void Sensor::read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept {
  read(readings);
}

std::optional<SettingFailure> Sensor::check(const DeviceSetting& /*setting*/) {
  return std::nullopt;
}

std::optional<SettingFailure> Sensor::set(const DeviceSetting& /*setting*/) {
  return SettingFailure{SettingFailure::Cause::not_offered,
                        "this GPU, or its driver, does not offer it"};
}

bool shows_module_power_alone(std::span<const Channel> channels) noexcept {
  bool shows_module = false;
  for (const Channel& channel : channels) {
    const bool is_power =
        channel.metric == Metric::power_instant || channel.metric == Metric::power_average;
    if (is_power && channel.scope == Scope::device) return false;
    shows_module = shows_module || (is_power && channel.scope == Scope::module);
  }
  return shows_module;
}

}  // namespace wattle
