// A unit of work as a span.
#pragma once

#include <string>

#include "otlp/otlp_values.hpp"
#include "wattle/work_units.hpp"

namespace wattle::otlp {

/// energy.joules and energy.uncertainty_joules (k = 2), which are absent if the energy is unknown;
/// energy.unknown_seconds, energy.flags.
void add_energy(OtlpAttributes& attributes, const MeasuredEnergy& energy);

/// False: the caller of the unit does not record its trace.
[[nodiscard]] bool is_recorded(const UnitEnergy& unit);

/// A span of the trace of the unit, or else of `otherwise`; `id`: of its marks.
[[nodiscard]] OtlpSpan span_of(const UnitEnergy& unit, const std::string& id,
                               const std::optional<TraceContext>& otherwise = {});

}  // namespace wattle::otlp
