// The power of a machine at the wall, from its size and the table of servers, and how it lies
// between idle and full load.
#pragma once

#include <algorithm>
#include <cmath>

#include "estimate/microarchitecture.hpp"
#include "sensors/cpu_info.hpp"
#include "sensors/machine_extent.hpp"
#include "wattle/estimate.hpp"
#include "wattle/system.hpp"

namespace wattle {

struct MachineSize {
  unsigned threads = 0;     ///< hardware threads, or vCPUs, that are online
  unsigned cores = 0;       ///< 0: not known
  unsigned packages = 0;    ///< 0: not known
  double memory_gb = 0.0;   ///< 10^9 bytes; 0: not known
  bool is_virtual = false;  ///< a part of a machine whose size is not known
  bool vcpu_is_core = false;
  /// False where the kernel puts idle cores into no state that saves much power.
  bool sleeps = true;
};

/// From /proc/cpuinfo, /proc/meminfo, and what sysfs says of the topology and of idle states. What
/// cannot be read is not known.
[[nodiscard]] MachineSize read_machine_size(const System& system, const Processors& processors,
                                            const Product& product, MachineExtent extent);

/// Watts per hardware thread or vCPU.
struct MachinePower {
  PowerRange idle;
  PowerRange full;
  PowerRange above;  ///< full less idle of one machine
};

/// Memory beyond 1 GB a core, more than published servers have, is added. The highest power is that
/// of vector code. Of a part of a machine (a virtual machine, or where the number of packages is
/// not known) the size of the whole is what servers of the microarchitecture have, and the ranges
/// of both are combined in quadrature.
[[nodiscard]] MachinePower machine_power(const Microarchitecture& machine,
                                         const MachineSize& size) noexcept;

// Measured curves (data/load-power.csv) bend both ways: turbo draws much power at a low load, slow
// clocks at a partial load save it. All lie between 0.42 u, or u^2 if that is more, and
// 1.28 u^0.25 of the power above idle, where 1 is the power at full load: some machines draw more
// before they reach it. scripts/server-power --check holds these constants to the data.
inline constexpr double kLowSlope = 0.42;
inline constexpr double kLowPower = 2.0;
inline constexpr double kHighPower = 0.25;
inline constexpr double kHighCurve = 1.28;

// Exponents of the curve; measured curves lie well within them. How a part of a load is charged is
// a convention.
inline constexpr double kLowExponent = 2.0;
inline constexpr double kTypicalExponent = 0.4;
inline constexpr double kHighExponent = 0.2;
inline constexpr double kHighScale = 1.2;

/// The part of the power above idle at a load `u` from 0 to 1, on a curve of that exponent.
[[nodiscard]] inline double active_part(double u, double exponent) noexcept {
  return std::pow(std::clamp(u, 0.0, 1.0), exponent);
}

/// The same part: at least, typically, at most.
struct ActiveParts {
  double low = 0.0;
  double typical = 0.0;
  double high = 0.0;
};
[[nodiscard]] inline ActiveParts active_parts(double u) noexcept {
  const double load = std::clamp(u, 0.0, 1.0);
  return {.low = std::max(kLowSlope * load, active_part(load, kLowPower)),
          .typical = active_part(load, kTypicalExponent),
          .high = load > 0.0 ? kHighCurve * active_part(load, kHighPower) : 0.0};
}

/// The part of the power above idle charged to `own`, a part of the load `all`, on a curve of that
/// exponent: if it comes first (it alone), and if it comes last (what it adds).
struct MarginalParts {
  double first = 0.0;
  double last = 0.0;
};
[[nodiscard]] inline MarginalParts marginal_parts(double own, double all,
                                                  double exponent) noexcept {
  own = std::clamp(own, 0.0, all);
  return {.first = active_part(own, exponent),
          .last = active_part(all, exponent) - active_part(all - own, exponent)};
}

}  // namespace wattle
