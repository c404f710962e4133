// Details that handlers write beside an energy, or log where the format has no place for them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "wattle/energy_trace.hpp"
#include "wattle/export.hpp"

namespace wattle {

/// Micro-joules of the uncertainty (nothing where the energy is unknown), `between`, seconds that
/// are not known, `between`, flags with blanks between them.
void append_sample_details(std::string& out, const MeasuredEnergy& energy,
                           std::string_view between);

/// Logs, once for a trace, that lower bounds were left out, with their domains. Exported for the
/// component wattle::mongodb.
WATTLE_EXPORT void warn_of_lower_bounds(const EnergyTrace& trace, std::string_view destination);

}  // namespace wattle
