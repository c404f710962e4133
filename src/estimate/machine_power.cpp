#include "estimate/machine_power.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace wattle {
namespace {

/// Watts per GB of memory beyond 1 GB per core. RAPL counts 0.02 to 0.52 on seven hosts of Amazon
/// EC2 (data/cloud-power.csv) when idle, and 0.11 to 1.55 where all cores write to memory. The
/// whole width would make high / low more than 6: docs/estimates.md.
constexpr PowerRange kMemoryIdle{0.05, 0.15, 0.3};
constexpr PowerRange kMemoryFull{0.1, 0.4, 0.8};
/// Code with wide vectors draws 0.85 to 1.32 times the package power of other full load on these
/// hosts.
constexpr double kVectorLoad = 1.3;
/// Idle power of a host whose cores never sleep, relative to full load. Assumed: no such host was
/// measured.
constexpr double kAwakeTypical = 0.35;
constexpr double kAwakeHigh = 0.6;

/// How many cores the threads are.
PowerRange cores_of(const Microarchitecture& machine, const MachineSize& size) noexcept {
  const double threads = std::max(1.0, static_cast<double>(size.threads));
  if (size.vcpu_is_core || !machine.has_smt) return {threads, threads, threads};
  const bool shows_siblings = size.cores > 0 && size.cores < size.threads;
  if (size.cores > 0 && (shows_siblings || !size.is_virtual)) {
    const double cores = size.cores;
    return {cores, cores, cores};
  }
  // A virtual machine may show threads as cores.
  return {threads / 2.0, threads / std::sqrt(2.0), threads};
}

/// A range relative to its typical value.
struct LogSpread {
  double down = 0.0;  ///< of the logarithm
  double up = 0.0;
};

LogSpread log_spread_of(const PowerRange& range, double exponent = 1.0) noexcept {
  const double down = std::log(range.typical / range.low) * std::abs(exponent);
  const double up = std::log(range.high / range.typical) * std::abs(exponent);
  return exponent < 0.0 ? LogSpread{up, down} : LogSpread{down, up};
}

/// Watts of what has these cores, where the size of the whole machine is known or not.
PowerRange power_of(const ServerScale& scale, const PowerRange& factor,
                    const Microarchitecture& machine, const MachineSize& size) noexcept {
  const PowerRange cores = cores_of(machine, size);
  if (!size.is_virtual && size.packages > 0) {
    const double watts = scale.watts(size.packages, cores.typical / size.packages);
    return {watts * factor.low, watts * factor.typical, watts * factor.high};
  }
  constexpr double kPackages = 2.0;  // of most servers
  const PowerRange& each = machine.cores_per_package;
  const double whole_w = scale.watts(kPackages, each.typical) * factor.typical;
  const double watts = whole_w * cores.typical / (kPackages * each.typical);
  const std::array spreads{log_spread_of(factor), log_spread_of(cores),
                           log_spread_of(each, scale.by_cores - 1.0)};
  double down = 0.0;
  double up = 0.0;
  for (const LogSpread& spread : spreads) {
    down = std::hypot(down, spread.down);
    up = std::hypot(up, spread.up);
  }
  return {watts * std::exp(-down), watts, watts * std::exp(up)};
}

PowerRange plus_memory(const PowerRange& power, const PowerRange& watts_per_gb,
                       double beyond_gb) noexcept {
  return {power.low + watts_per_gb.low * beyond_gb,
          power.typical + watts_per_gb.typical * beyond_gb,
          power.high + watts_per_gb.high * beyond_gb};
}

PowerRange per_thread(const PowerRange& power, const MachineSize& size) noexcept {
  const double threads = std::max(1.0, static_cast<double>(size.threads));
  return {power.low / threads, power.typical / threads, power.high / threads};
}

}  // namespace

double ServerScale::watts(double packages, double cores_per_package) const noexcept {
  return std::exp(constant) * std::pow(packages, by_packages) *
         std::pow(cores_per_package, by_cores);
}

MachinePower machine_power(const Microarchitecture& machine, const MachineSize& size) noexcept {
  const ServerScales& scales = server_scales();
  PowerRange idle = power_of(scales.idle, machine.idle, machine, size);
  PowerRange full = power_of(scales.full, machine.full, machine, size);
  PowerRange above = power_of(scales.above, machine.above, machine, size);
  const double beyond_gb = std::max(0.0, size.memory_gb - cores_of(machine, size).typical);
  idle = plus_memory(idle, kMemoryIdle, beyond_gb);
  full = plus_memory(full, kMemoryFull, beyond_gb);
  above.high += kMemoryFull.high * beyond_gb;
  full.high *= kVectorLoad;
  above.high *= kVectorLoad;
  if (!size.sleeps) {
    idle.typical = std::max(idle.typical, kAwakeTypical * full.typical);
    idle.high = std::max(idle.high, kAwakeHigh * full.typical);
  }
  return {.idle = per_thread(idle, size),
          .full = per_thread(full, size),
          .above = per_thread(above, size)};
}

}  // namespace wattle
