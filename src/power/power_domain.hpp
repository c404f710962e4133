// Which of a GPU's channels a power domain is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
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

/// What the GPU is called.
[[nodiscard]] const Domain& gpu_domain_of(const Sensor& sensor) noexcept;

/// One number for each GPU, whoever made it: NVIDIA's have the driver's, those of others follow
/// behind the last of them, in their order. `gpus`: all there are, also those that cannot be read,
/// so that numbers stay when one fails.
[[nodiscard]] std::map<Domain, std::uint32_t> gpu_numbers(const std::set<Domain>& gpus);
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
