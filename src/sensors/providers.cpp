#include "sensors/providers.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "sensors/powercap/powercap.hpp"

namespace wattle {
namespace {

constexpr std::array kProviders = {
    Provider{.name = "powercap",
             .what = "CPU energy counters (RAPL) through /sys/class/powercap",
             .probe = powercap::probe},
};

}  // namespace

std::span<const Provider> providers() noexcept { return kProviders; }

Survey survey(const System& system, const Clock& clock) {
  Survey all;
  for (const Provider& provider : kProviders) {
    Survey found = provider.probe(system, clock);
    std::ranges::move(found.sensors, std::back_inserter(all.sensors));
    std::ranges::move(found.refused, std::back_inserter(all.refused));
  }
  return all;
}

std::vector<Domain> available_domains(const System& system) {
  std::vector<Domain> domains;
  for (const auto& sensor : survey(system, machine_clock()).sensors) {
    for (const Channel& channel : sensor->channels()) {
      if (channel.counts_energy()) domains.push_back(channel.domain);
    }
  }
  std::ranges::sort(domains);
  const auto repeated = std::ranges::unique(domains);
  domains.erase(repeated.begin(), repeated.end());
  return domains;
}

}  // namespace wattle
