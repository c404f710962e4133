#include "sampling/energy_figure.hpp"

namespace wattle {

std::string_view to_string(Method method) noexcept {
  switch (method) {
    case Method::counter:
      return "counter";
    case Method::integrated:
      return "integrated";
    case Method::estimated:
      return "estimated";
  }
  return "";
}

MeasuredEnergy EnergyFigure::measured() const noexcept {
  return {.energy = energy, .uncertainty = uncertainty, .unknown = unknown, .flags = flags};
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
