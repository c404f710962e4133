#include "sampling/energy_figure.hpp"

#include <array>
#include <cmath>

#include "base/json/enum_table.hpp"
#include "sampling/counters/counter.hpp"

namespace wattle {

std::string_view to_string(Method method) noexcept {
  constexpr std::array<std::string_view, 4> kNames = {"counter", "integrated", "estimated", ""};
  return entry_of(kNames, method);
}

std::string_view why_unknown(const Flags& flags) noexcept {
  if (flags.has(Flag::stuck)) return kCounterStuck;
  if (flags.has(Flag::late)) return "its driver does not answer";
  if (flags.has(Flag::reset)) return "its counter restarted";
  if (flags.has(Flag::implausible)) return "its counter jumped beyond what the device can draw";
  return "it could not be read throughout";
}

Joules UncertaintySum::uncertainty() const noexcept {
  return Joules(std::hypot(std::sqrt(independent_j2_), common_j_));
}

MeasuredEnergy EnergyFigure::measured() const noexcept {
  return {.energy = energy,
          .uncertainty = uncertainty,
          .common = common,
          .unknown = unknown,
          .flags = flags};
}

BestEnergy EnergyFigure::best() const {
  BestEnergy best;
  static_cast<MeasuredEnergy&>(best) = measured();
  best.method = method;
  best.quantity = quantity;
  best.coverage = coverage;
  best.alternatives = alternatives;
  return best;
}

}  // namespace wattle
