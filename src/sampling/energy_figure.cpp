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

}  // namespace wattle
