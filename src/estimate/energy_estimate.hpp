// The arithmetic of an estimate.
#pragma once

#include <optional>

#include "estimate/cpu_load.hpp"
#include "estimate/microarchitecture.hpp"
#include "wattle/estimate.hpp"

namespace wattle {

/// `cpu_time` as for `EnergyEstimator::estimate`.
[[nodiscard]] EnergyEstimate estimate_energy(const Microarchitecture& machine, bool is_virtual,
                                             const CpuLoad& load, std::optional<Seconds> cpu_time);

}  // namespace wattle
