// Units of work over given domains: for tests and benchmarks, which play the sensors and the clock.
#pragma once

#include <memory>

#include "base/clock.hpp"
#include "energy/metered_domains.hpp"
#include "units/thread_clock.hpp"
#include "wattle/work_units.hpp"

namespace wattle::detail {

struct WorkUnitsMaker {
  /// No thread reads them: `update` does. The clocks outlive them.
  [[nodiscard]] static WorkUnits units(std::shared_ptr<MeteredDomains> domains,
                                       const WorkUnitsOptions& options, const TimeSource& clock,
                                       const ThreadClock& threads = machine_threads());
};

}  // namespace wattle::detail
