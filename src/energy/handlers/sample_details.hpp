// What handlers say beside the number of an energy, and where they have no place for it.
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

/// Tells the log, once for a trace, that lower bounds were left out, and of which domains. Exported
/// for the component wattle::mongodb.
WATTLE_EXPORT void warn_of_lower_bounds(const EnergyTrace& trace, std::string_view destination);

}  // namespace wattle
