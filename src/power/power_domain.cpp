#include "power/power_domain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <utility>

#include "base/json/enum_table.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle {

std::string_view to_string(PowerDomain domain) noexcept {
  constexpr std::array<std::string_view, kPowerDomains.size() + 1> kNames = {
      "device_instant", "device_average", "memory_average",
      "module_instant", "module_average", "unknown"};
  return entry_of(kNames, domain);
}

PowerDomain parse_power_domain(std::string_view word) {
  for (const PowerDomain domain : kPowerDomains) {
    if (to_string(domain) == word) return domain;
  }
  throw InvalidArgument(
      fmt::format("unknown power domain '{}'; use device_instant, device_average, "
                  "memory_average, module_instant or module_average",
                  printable(word)));
}

double PowerSample::unix_s() const noexcept { return to_unix(timestamp); }
double CpuPowerSample::unix_s() const noexcept { return to_unix(timestamp); }

std::ostream& operator<<(std::ostream& out, const PowerSample& sample) {
  return out << sample.power;
}
std::ostream& operator<<(std::ostream& out, const CpuPowerSample& sample) {
  return out << sample.domain << ": " << sample.power;
}

std::optional<PowerDomain> power_domain_of(const Channel& channel) noexcept {
  const bool is_module = channel.scope == Scope::module;
  switch (channel.metric) {
    case Metric::power_instant:
      return is_module ? PowerDomain::module_instant : PowerDomain::device_instant;
    case Metric::power_average:
      return is_module ? PowerDomain::module_average : PowerDomain::device_average;
    case Metric::power_memory:
      return PowerDomain::memory_average;
    default:
      return std::nullopt;
  }
}

std::string gpu_text(std::uint32_t number, const Domain& gpu) {
  return gpu.kind() == DomainKind::nvidia_gpu ? fmt::format("GPU {}", number)
                                              : fmt::format("GPU {} ({})", number, gpu.name());
}

ChannelSet power_channels(const Sensor& sensor,
                          const std::optional<std::vector<PowerDomain>>& domains) {
  const bool module_alone = shows_module_power_alone(sensor.channels());
  std::array<bool, kPowerDomains.size()> is_wanted{};
  for (const PowerDomain domain : kPowerDomains) {
    is_wanted.at(place_of(domain)) =
        domains ? std::ranges::count(*domains, domain) > 0 : !is_of_module(domain) || module_alone;
  }
  return channels_where(sensor, [&](const Channel& channel) {
    const auto domain = power_domain_of(channel);
    return domain && std::exchange(is_wanted.at(place_of(*domain)), false);
  });
}

ChannelSet energy_channels(const Sensor& sensor) {
  return channels_where(sensor, [](const Channel& channel) { return channel.counts_energy(); });
}

}  // namespace wattle
