// The share of a command in what was measured, for a report.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "estimate/energy_share.hpp"
#include "sampling/measured_window.hpp"
#include "usage/gpu/gpu_usage.hpp"
#include "wattle/domain.hpp"
#include "wattle/estimate.hpp"

namespace wattle {

/// The energy of a GPU, by user.
struct GpuShare {
  Domain domain;
  Joules measured;
  std::optional<Joules> uncertainty{};  ///< of what was measured, k = 2; absent where unknown
  Flags flags{};                        ///< the same
  EnergyRange command;                  ///< `typical` counts only where it `is_known`
  bool is_known = false;
  std::string basis;  ///< "only the command used it"
};

/// Shares of packages and DRAM together, and of each GPU.
struct EnergyShare {
  std::optional<ShareBalance> balance{};  ///< absent where no CPU energy was measured
  /// Why there is no balance, though energy of a CPU or its memory was measured; else empty.
  std::string unknown{};
  std::vector<std::string> covers{};    ///< the domains of the balance
  std::optional<Joules> uncertainty{};  ///< of what they spent, k = 2; absent where it is not known
  Flags flags{};                        ///< the same
  std::string idle_basis{};             ///< the baseline; empty where there is none
  std::string idle_unknown{};           ///< why there is none; else empty
  std::vector<GpuShare> gpus{};
};

/// True for what a balance is of: packages and DRAM.
[[nodiscard]] bool is_shared(const Domain& domain) noexcept;
/// The names of those domains of a window.
[[nodiscard]] std::set<std::string> shared_domains(const MeasuredWindow& window);
/// Energy of those domains of a window that have these names, together; absent where a part of it
/// is not known, or there are no names. Where it is there, its `energy` is.
[[nodiscard]] std::optional<MeasuredEnergy> shared_energy(const MeasuredWindow& window,
                                                          const std::vector<std::string>& names,
                                                          TimePoint from, TimePoint to);

/// Why that is absent: "package_0: its counter does not move".
[[nodiscard]] std::string why_not_shared(const MeasuredWindow& window,
                                         const std::vector<std::string>& names, TimePoint from,
                                         TimePoint to);

/// Over the time of a share.
struct GpuPower {
  Seconds wall{0};
  std::optional<Watts> lowest{};  ///< of a second: idle power is not higher
};
/// By whose processes were seen on a GPU; where others used it too, by the time that its engines
/// worked for each, if the driver reports it. GPUs whose energy is not known are not in it.
[[nodiscard]] GpuShare gpu_share(const GpuUsage& usage, const MeasuredEnergy& measured,
                                 const GpuPower& power = {});

}  // namespace wattle
