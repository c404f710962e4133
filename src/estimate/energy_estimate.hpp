// The arithmetic of an estimate.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "estimate/cpu_load.hpp"
#include "estimate/machine_power.hpp"
#include "estimate/microarchitecture.hpp"
#include "wattle/estimate.hpp"

namespace wattle {

/// `cpu_time` as for `EnergyEstimator::estimate`.
[[nodiscard]] EnergyEstimate estimate_energy(const Microarchitecture& machine,
                                             const MachineSize& size, const CpuLoad& load,
                                             std::optional<Seconds> cpu_time);

/// The inputs of an estimate for this machine; all but the load is read once. Threads: one at a
/// time.
class EstimatedMachine {
 public:
  explicit EstimatedMachine(const EstimatorOptions& options);

  /// Absent where /proc/stat cannot be read.
  [[nodiscard]] std::optional<CpuMoment> read() const { return reader_.read(); }
  /// The estimate for the time between two moments; `unknown` if one is absent. `cpu_time` as for
  /// `EnergyEstimator::estimate`.
  [[nodiscard]] EnergyEstimate estimate(const std::optional<CpuMoment>& begin,
                                        const std::optional<CpuMoment>& end,
                                        std::optional<Seconds> cpu_time = {}) const;

 private:
  CpuLoadReader reader_;
  Microarchitecture microarchitecture_{};
  MachineSize size_{};
  std::string unknown_{};  ///< why nothing is estimated; else empty
};

/// The mean of the ranges of repeated runs on one machine, with what the first one says of it.
/// Absent where there are none; unknown where one of them is.
[[nodiscard]] std::optional<EnergyEstimate> mean_of(std::span<const EnergyEstimate> runs);

}  // namespace wattle
