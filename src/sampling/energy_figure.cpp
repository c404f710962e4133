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

MeasuredEnergy measured(const EnergyFigure& figure) noexcept {
  return {.energy = figure.energy,
          .uncertainty = figure.uncertainty,
          .unknown = figure.unknown,
          .flags = figure.flags};
}

}  // namespace wattle
