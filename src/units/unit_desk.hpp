// Running units write to it. It outlives them.
#pragma once

#include <cstddef>

#include "units/thread_clock.hpp"
#include "units/unit_events.hpp"
#include "units/unit_tags.hpp"
#include "units/unit_traces.hpp"

namespace wattle::detail {

/// Threads: any, as its parts.
struct UnitDesk {
  /// The clocks outlive it.
  UnitDesk(const TimeSource& clock, std::size_t most_tags,
           const ThreadClock& thread_clock = machine_threads())
      : events(clock), tags(most_tags), threads(thread_clock) {}

  UnitEvents events;
  UnitTags tags;
  UnitTraces traces;
  const ThreadClock& threads;
};

}  // namespace wattle::detail
