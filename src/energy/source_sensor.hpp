// A user's own device, seen as sensors: its counters are one, its gauges of power another.
#pragma once

#include <cstddef>
#include <memory>

#include "base/clock.hpp"
#include "sensors/sensor.hpp"
#include "wattle/energy_meter.hpp"

namespace wattle::detail {

/// The domain of the counter or gauge `number` of all sources: its own name can be any text.
[[nodiscard]] Domain source_domain(std::size_t number);

/// The energy counters of a source. The places of its channels are the counters' names. `first`:
/// the number of its first counter. `clock` outlives it. Throws `InvalidArgument` for a counter
/// that makes no sense, and for too many.
[[nodiscard]] std::unique_ptr<Sensor> counters_of(std::shared_ptr<EnergySource> source,
                                                  const TimeSource& clock, std::size_t first);
/// The same for its gauges of power, which a thread reads.
[[nodiscard]] std::unique_ptr<Sensor> gauges_of(std::shared_ptr<EnergySource> source,
                                                const TimeSource& clock, std::size_t first);

}  // namespace wattle::detail
