// Facts about energy sensors that no interface states: how much power is impossible, how often a
// counter is renewed. Each with its source. What is discovered on the machine takes precedence.
#pragma once

#include <chrono>
#include <string_view>

#include "sensors/sensor.hpp"
#include "wattle/domain.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// Above this no device of the kind can draw power: a difference that says so is no energy.
///
/// Where the hardware states limits, twice the largest of them is used instead (short excursions
/// above a limit are normal, twice the limit is not). The defaults leave a factor of about four
/// to the largest parts sold by 2025: 500 W server packages (Xeon 6900, EPYC 9005 data sheets),
/// 16 DDR5 modules of about 10 W a socket, two power supplies of 2.4 kW a board.
[[nodiscard]] constexpr Watts default_max_power(DomainKind kind) noexcept {
  switch (kind) {
    case DomainKind::package:
    case DomainKind::core:    // inside the package
    case DomainKind::uncore:  // inside the package
      return Watts(2000.0);
    case DomainKind::dram:
      return Watts(500.0);
    case DomainKind::nvidia_gpu:  // boards up to 1.4 kW (B300 class)
    case DomainKind::amd_gpu:
      return Watts(5000.0);
    case DomainKind::psys:
      return Watts(10000.0);
  }
  return Watts(10000.0);
}

/// RAPL counters are renewed about every millisecond. Mean, spread and 99th percentile are those
/// of the least regular package counter published: Ice Lake-SP, 9,997 updates recorded by
/// github.com/lukalt/icpe-2024-rapl-validation (Broadwell-EP: spread 0.04 ms; AMD Zen 2: 0.003).
inline constexpr UpdateInterval kRaplUpdate = {
    .mean = std::chrono::microseconds(1000),
    .spread = std::chrono::microseconds(270),
    .p99 = std::chrono::microseconds(1650),
};

/// What it means to let more users read RAPL counters.
inline constexpr std::string_view kRaplRisk =
    "whoever can read these counters finely can infer what other processes compute "
    "(PLATYPUS, CVE-2020-8694)";

}  // namespace wattle
