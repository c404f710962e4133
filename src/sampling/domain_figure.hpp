// The energy of one domain in a window, and where it is from.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "sampling/energy_figure.hpp"
#include "sensors/sensor.hpp"
#include "wattle/domain.hpp"

namespace wattle {

/// The error of a sensor itself, by a comparison with an external meter.
struct SensorError {
  double percent = 0.0;  ///< at most
  std::string source;    ///< "compared with pdu.csv on 2026-11-24"
};

/// From readings to the reader of a report, this is the energy of a domain.
struct DomainFigure {
  Domain domain;
  std::optional<Domain> contained_in{};
  std::string source{};
  EnergyFigure figure{};
  std::optional<SensorError> calibration{};  ///< absent: unknown
};

/// The figure of `channel` and others of its domain.
[[nodiscard]] inline DomainFigure figure_of(const Channel& channel, EnergyFigure figure) {
  return {.domain = channel.domain,
          .contained_in = channel.contained_in,
          .source = channel.source,
          .figure = std::move(figure)};
}

}  // namespace wattle
