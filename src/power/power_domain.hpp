// Which of a GPU's channels a power domain is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sensors/sensor.hpp"
#include "wattle/power_monitor.hpp"

namespace wattle {

inline constexpr std::array kPowerDomains = {
    PowerDomain::device_instant, PowerDomain::device_average, PowerDomain::memory_average,
    PowerDomain::module_instant, PowerDomain::module_average};

/// A place in an array of as many as `kPowerDomains`.
[[nodiscard]] constexpr std::size_t place_of(PowerDomain domain) noexcept {
  return static_cast<std::size_t>(domain);
}

/// Absent for what is no power over time: its energy, its limit.
[[nodiscard]] std::optional<PowerDomain> power_domain_of(const Channel& channel) noexcept;

/// "GPU 0", "GPU 2 (amd_gpu_0)": for messages.
[[nodiscard]] std::string gpu_text(std::uint32_t number, const Domain& gpu);

/// The channels of the named power domains, each once, that a GPU has. Absent names: of all; those
/// of its module only where it shows no power of its own.
[[nodiscard]] ChannelSet power_channels(const Sensor& sensor,
                                        const std::optional<std::vector<PowerDomain>>& domains);
/// The channels that count the domain's own energy.
[[nodiscard]] ChannelSet energy_channels(const Sensor& sensor);
/// True for the power of more than the GPU: its module's.
[[nodiscard]] constexpr bool is_of_module(PowerDomain domain) noexcept {
  return domain == PowerDomain::module_instant || domain == PowerDomain::module_average;
}

}  // namespace wattle
