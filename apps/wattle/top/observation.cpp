#include "top/observation.hpp"

#include <cmath>

#include "sampling/energy_sum.hpp"

namespace wattle::app {

std::optional<TopTotal> total_of(const TopObservation& seen) {
  TopTotal total;
  EnergySum sum(seen.elapsed);
  double squares_w2 = 0.0;
  bool is_any = false;
  for (const TopDevice& device : seen.devices) {
    if (!device.is_counted) continue;
    is_any = true;
    sum.add(device.energy);
    if (!device.power) {
      total.is_lower_bound = true;
      continue;
    }
    const double before = total.power ? total.power->value : 0.0;
    squares_w2 += device.power->uncertainty * device.power->uncertainty;
    total.power = Uncertain{before + device.power->value, std::sqrt(squares_w2)};
  }
  if (!is_any) return std::nullopt;
  total.energy = sum.result();
  return total;
}

}  // namespace wattle::app
