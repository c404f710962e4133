#include "top/observation.hpp"

#include <algorithm>

#include "output/energy_words.hpp"
#include "sampling/energy_sum.hpp"

namespace wattle::app {

std::optional<TopTotal> total_of(const TopObservation& seen) {
  TopTotal total;
  EnergySum sum(seen.elapsed);
  MeanPowerSum power;
  bool is_any = false;
  for (const TopDevice& device : seen.devices) {
    if (!device.is_counted) continue;
    is_any = true;
    sum.add(device.energy);
    if (!device.power) {
      total.is_lower_bound = true;
      continue;
    }
    power.add(*device.power, device.power_common_w);
  }
  if (!is_any) return std::nullopt;
  total.power = power.result();
  for (const TopMachine& machine : seen.machines) {
    if (machine.trouble.empty() && machine.is_live) continue;
    total.is_lower_bound = true;
    // Devices that were never reached are not among those of the machine.
    const auto has_trouble = [&](const TopDevice& it) {
      return it.machine == machine.name && !it.power;
    };
    if (std::ranges::none_of(seen.devices, has_trouble)) sum.add({});
  }
  total.energy = sum.result();
  return total;
}

}  // namespace wattle::app
