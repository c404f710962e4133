#include "usage/energy_group.hpp"

#include <string>

#include "sampling/energy_figure.hpp"

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
  for (const SensorRefusal& refusal : refused) {
    energy.refused.push_back({.subject = refusal.subject,
                              .reason = refusal.reason,
                              .remedy = refusal.remedy,
                              .source = refusal.source});
  }
  return energy;
}

}  // namespace wattle
