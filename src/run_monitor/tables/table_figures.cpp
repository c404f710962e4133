#include "run_monitor/tables/table_figures.hpp"

#include <cmath>

#include "base/numbers/known_sum.hpp"

namespace wattle {

void GpuFigures::set_energy(const MeasuredEnergy& measured, Method method) noexcept {
  energy = measured.energy;
  energy_unknown = measured.unknown;
  energy_flags = measured.flags;
  energy_uncertainty = energy ? std::optional(measured.uncertainty) : std::nullopt;
  energy_common = measured.common;
  energy_method = energy ? std::optional(method) : std::nullopt;
}

void sum_energies(GpuTable& table) {
  GpuFigures& all = table.all;
  UncertaintySum errors;
  KnownSum<Joules> energy;
  bool is_first = true;
  for (const GpuSummary& gpu : table.gpus) {
    energy.add(gpu.energy);
    errors.add(gpu.energy_uncertainty.value_or(Joules()), gpu.energy_common);
    all.energy_unknown = std::max(all.energy_unknown, gpu.energy_unknown);
    all.energy_flags |= gpu.energy_flags;
    const bool is_same = is_first || all.energy_method == gpu.energy_method;
    all.energy_method = is_same ? gpu.energy_method : std::nullopt;
    is_first = false;
  }
  all.energy = energy.value();
  if (all.energy) all.energy_uncertainty = errors.uncertainty();
}

}  // namespace wattle
