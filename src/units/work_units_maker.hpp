// Units of work over given domains: for tests and benchmarks, which play the sensors and the clock.
#pragma once

#include <memory>

#include "base/clock.hpp"
#include "energy/metered_domains.hpp"
#include "wattle/work_units.hpp"

namespace wattle::detail {

struct WorkUnitsMaker {
  /// No thread reads them: `update` does. `clock` outlives them.
  [[nodiscard]] static WorkUnits units(std::shared_ptr<MeteredDomains> domains,
                                       const WorkUnitsOptions& options, const TimeSource& clock);
};

}  // namespace wattle::detail
