#include "usage/energy_group.hpp"

#include <string>

#include "sampling/energy_figure.hpp"
#include "sensors/refusals.hpp"

namespace wattle {

TrackedEnergy tracked_energy(const MeasuredWindow& window,
                             const std::vector<SensorRefusal>& refused, TimePoint began,
                             TimePoint ended) {
  TrackedEnergy energy;
  for (const MeasuredWindow::Result& result : window.results(began, ended)) {
    const auto& outer = result.channel.contained_in;
    energy.domains.push_back({.domain = result.channel.domain.name(),
                              .energy = result.figure.best(),
                              .source = result.channel.source,
                              .contained_in = outer ? outer->name() : ""});
  }
  energy.refused = missing_of(refused);
  return energy;
}

}  // namespace wattle
