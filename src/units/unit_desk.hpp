// Running units write to it. It outlives them.
#pragma once

#include <cstddef>

#include "units/unit_events.hpp"
#include "units/unit_tags.hpp"
#include "units/unit_traces.hpp"

namespace wattle::detail {

/// Threads: any, as its parts.
struct UnitDesk {
  UnitDesk(const TimeSource& clock, std::size_t most_tags) : events(clock), tags(most_tags) {}

  UnitEvents events;
  UnitTags tags;
  UnitTraces traces;
};

}  // namespace wattle::detail
