// The arithmetic of an estimate.
#pragma once

#include <optional>
#include <span>

#include "estimate/cpu_load.hpp"
#include "estimate/machine_size.hpp"
#include "estimate/microarchitecture.hpp"
#include "wattle/estimate.hpp"

namespace wattle {

/// `cpu_time` as for `EnergyEstimator::estimate`.
[[nodiscard]] EnergyEstimate estimate_energy(const Microarchitecture& machine,
                                             const MachineSize& size, const CpuLoad& load,
                                             std::optional<Seconds> cpu_time);

/// The mean of the ranges of repeated runs on one machine, with what the first one says of it.
/// Absent where there are none; unknown where one of them is.
[[nodiscard]] std::optional<EnergyEstimate> mean_of(std::span<const EnergyEstimate> runs);

}  // namespace wattle
