#include "sensors/sensor.hpp"

#include <array>

#include "base/json/enum_table.hpp"

namespace wattle {
namespace {

struct MetricTexts {
  std::string_view name;
  std::string_view unit;
};

constexpr std::array kMetrics = {
    MetricTexts{"energy", "J"},
    MetricTexts{"power_instant", "W"},
    MetricTexts{"power_average", "W"},
    MetricTexts{"power_memory", "W"},
    MetricTexts{"power_limit", "W"},
    MetricTexts{"utilization", "%"},
    MetricTexts{"memory_utilization", "%"},
    MetricTexts{"memory_used", "B"},
    MetricTexts{"memory_total", "B"},
    MetricTexts{"temperature", "°C"},
    MetricTexts{"clock_sm", "Hz"},
    MetricTexts{"clock_memory", "Hz"},
    MetricTexts{"unknown", ""},
};
static_assert(entry_of(kMetrics, Metric::clock_memory).name == "clock_memory");

constexpr std::array<std::string_view, 4> kScopes = {"device", "module", "memory", "unknown"};

}  // namespace

std::string_view to_string(Metric metric) noexcept { return entry_of(kMetrics, metric).name; }

std::string_view unit_of(Metric metric) noexcept { return entry_of(kMetrics, metric).unit; }

std::string_view to_string(CounterFeed feed) noexcept {
  switch (feed) {
    case CounterFeed::own:
      return "own";
    case CounterFeed::fed:
      return "fed";
    case CounterFeed::unknown:
      break;
  }
  return "unknown";
}

std::string_view to_string(Scope scope) noexcept { return entry_of(kScopes, scope); }

bool is_gpu(const Sensor& sensor) noexcept {
  return !sensor.channels().empty() &&
         sensor.channels().front().domain.category() == DomainCategory::gpu;
}

void add_energy_domains(std::span<const Channel> channels, std::set<Domain>& domains) {
  for (const Channel& channel : channels) {
    if (channel.gives_energy()) domains.insert(channel.domain);
  }
}

std::optional<SettingFailure> Sensor::check(const DeviceSetting& /*setting*/) {
  return std::nullopt;
}

std::optional<SettingFailure> Sensor::set(const DeviceSetting& /*setting*/) {
  return SettingFailure{SettingFailure::FailureCause::not_offered,
                        "this GPU, or its driver, does not offer it"};
}

bool shows_module_power_alone(std::span<const Channel> channels) noexcept {
  bool shows_module = false;
  for (const Channel& channel : channels) {
    if (!is_power(channel.metric)) continue;
    if (channel.scope == Scope::device) return false;
    shows_module = shows_module || channel.scope == Scope::module;
  }
  return shows_module;
}

}  // namespace wattle
