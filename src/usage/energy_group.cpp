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
    const EnergyFigure& figure = result.figure;
    const auto& outer = result.channel.contained_in;
    energy.domains.push_back({.domain = result.channel.domain.name(),
                              .energy = {.energy = figure.energy,
                                         .uncertainty = figure.uncertainty,
                                         .unknown = figure.unknown,
                                         .flags = figure.flags},
                              .method = std::string(to_string(figure.method)),
                              .source = result.channel.source,
                              .contained_in = outer ? outer->name() : ""});
  }
  energy.refused = missing_of(refused);
  return energy;
}

}  // namespace wattle
