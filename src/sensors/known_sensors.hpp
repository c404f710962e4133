// Facts about energy sensors that no interface states: how much power is impossible, how often a
// counter is renewed. Each with its source. What is discovered on the machine takes precedence.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
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
    case DomainKind::amd_gpu:     // MI355X: 1.4 kW
    case DomainKind::intel_gpu:   // Data Center GPU Max: 600 W
      return Watts(5000.0);
    case DomainKind::psys:
      return Watts(10000.0);
  }
  return Watts(10000.0);
}

/// What a total is made of.
inline constexpr std::array<std::string_view, 3> kKindsInTotal = {"cpu", "dram", "gpu"};

/// The one of these that a domain belongs to; empty for those that overlap others.
[[nodiscard]] constexpr std::string_view kind_in_total(DomainKind kind) noexcept {
  if (!counts_in_total(kind)) return {};
  if (kind == DomainKind::package) return kKindsInTotal[0];
  return kind == DomainKind::dram ? kKindsInTotal[1] : kKindsInTotal[2];
}

/// Below this no device of the kind stays while the machine runs: a counter that shows less is
/// stuck. An idle package draws more than 0.1 W even in its deepest sleep (Intel's 6 W parts, data
/// sheets), DRAM must be refreshed, an NVIDIA GPU whose driver is in use is powered. Cores are
/// switched off while they sleep, but every timer wakes them. Of AMD's and Intel's GPUs the kernel
/// may switch off the whole board between two reads. 0: it may draw nothing.
[[nodiscard]] constexpr Watts least_power(DomainKind kind) noexcept {
  switch (kind) {
    case DomainKind::package:
    case DomainKind::dram:
    case DomainKind::psys:
    case DomainKind::nvidia_gpu:
      return Watts(0.1);
    case DomainKind::core:
    case DomainKind::amd_gpu:
    case DomainKind::intel_gpu:
      return Watts(0.001);
    case DomainKind::uncore:  // an integrated GPU that nobody uses is off
      return Watts(0.0);
  }
  return Watts(0.0);
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
    "users who read these counters finely can infer what other processes compute "
    "(PLATYPUS, CVE-2020-8694)";

/// What lets users read RAPL counters and nobody else: the first thing to be recommended.
inline constexpr std::string_view kDaemonRemedy =
    "run the daemon, which reads the counters for the members of its group (sudo systemctl enable "
    "--now wattled.socket; sudo usermod -aG wattle \"$USER\", and log in again)";

/// NVIDIA's energy counter, before anybody looked: about every 100 ms on current GPUs (docs of
/// github.com/ml-energy/zeus), 20 to 100 ms in all (github.com/alumet-dev/alumet). How regularly is
/// not published; the spread is assumed.
inline constexpr UpdateInterval kNvmlCounterUpdate = {
    .mean = std::chrono::milliseconds(100),
    .spread = std::chrono::milliseconds(10),
    .p99 = std::chrono::milliseconds(125),
};

/// An Intel GPU's energy counter is made by the driver, which adds up what a register of 32 bits
/// has advanced between two reads. The register counts in 2^-14 J (the example in i915_hwmon.c and
/// xe_hwmon.c of Linux, and what the latter sets for boards that do not state it): 2^18 J a turn.
inline constexpr std::uint64_t kIntelGpuFollowedMicrojoules = (std::uint64_t{1} << 18U) * 1'000'000;

/// How long a mean over a second was seen to stay as it was, where each 100 ms are due: after a
/// load had ended, three values in three seconds (RTX 3090, drivers 535 and later).
inline constexpr std::chrono::nanoseconds kAverageFreezes = std::chrono::seconds(1);

/// How a power gauge looks at the power. Absent, or not `known()`: nobody has told or found out.
struct GaugeFacts {
  /// Each value is the mean over this long.
  std::optional<std::chrono::nanoseconds> window{};
  UpdateInterval update{};
  /// There is no window: each value follows the power with a first-order lag.
  std::optional<std::chrono::nanoseconds> time_constant{};

  /// The part of all time that the values tell of: see `GaugeTraits`.
  [[nodiscard]] std::optional<double> coverage() const noexcept;
};

/// What was found out on this machine where it was, else what is known of others of its like.
[[nodiscard]] GaugeFacts refined(const GaugeFacts& known, const GaugeFacts& discovered) noexcept;

/// What is known of an NVIDIA board's sensors.
struct GpuFacts {
  GaugeFacts instant{};  ///< field 186, power.draw.instant
  GaugeFacts average{};  ///< field 185, power.draw.average
  GaugeFacts usage{};    ///< nvmlDeviceGetPowerUsage, power.draw
  /// What its energy counter counts.
  Scope energy_scope = Scope::device;
};

/// By the board's name as the driver gives it, "NVIDIA A100-SXM4-80GB"; `driver_branch`: see
/// below. Everything unknown where the table has no such board.
[[nodiscard]] GpuFacts known_gpu(std::string_view board,
                                 std::optional<unsigned> driver_branch) noexcept;

/// The branch of a driver's version: 550 of "550.54.15". Absent where it is no version.
[[nodiscard]] std::optional<unsigned> parse_driver_branch(std::string_view version) noexcept;

}  // namespace wattle
