// Facts about energy sensors that no interface states: how often a counter is renewed, what a gauge
// shows. Each with its source. What is discovered on the machine takes precedence.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sensors/sensor.hpp"

namespace wattle {

/// RAPL counters are renewed about every millisecond. Mean, spread and 99th percentile are those
/// of the least regular package counter published: Ice Lake-SP, 9,997 updates recorded by
/// github.com/lukalt/icpe-2024-rapl-validation (Broadwell-EP: spread 0.04 ms; AMD Zen 2: 0.003).
inline constexpr UpdateInterval kRaplUpdate = {
    .mean = std::chrono::microseconds(1000),
    .spread = std::chrono::microseconds(270),
    .p99 = std::chrono::microseconds(1650),
};

/// Why a virtual machine shows no RAPL counters.
inline constexpr std::string_view kNoRaplInVirtualMachine =
    "this is a virtual machine; the host does not expose energy counters to it";

/// The risk of letting more users read RAPL counters.
inline constexpr std::string_view kRaplRisk =
    "users who read these counters finely can infer what other processes compute "
    "(PLATYPUS, CVE-2020-8694)";

/// Commands that let users read RAPL counters; they depend on the machine.
inline constexpr std::string_view kRaplRemedy =
    "wattle doctor --fix cpu prints the commands that allow it";

/// How to let a container read them.
inline constexpr std::string_view kContainerRemedy =
    "give the container the socket of the daemon on its host: docker run -v "
    "/run/wattled:/run/wattled ...";

/// NVIDIA's energy counter, before it was observed: about every 100 ms on current GPUs (docs of
/// github.com/ml-energy/zeus), 20 to 100 ms in all (github.com/alumet-dev/alumet). How regularly is
/// not published; the spread is assumed.
inline constexpr UpdateInterval kNvmlCounterUpdate = {
    .mean = std::chrono::milliseconds(100),
    .spread = std::chrono::milliseconds(10),
    .p99 = std::chrono::milliseconds(125),
};

/// The controller of an HPE Cray blade looks about ten times a second (Cray-HPE/docs-csm, "User
/// Access to Compute Node Power Data"). How regularly is not published; the spread is assumed.
inline constexpr UpdateInterval kCrayUpdate = kNvmlCounterUpdate;

/// An Intel GPU's energy counter is made by the driver, which adds up what a register of 32 bits
/// has advanced between two reads. The register counts in 2^-14 J (the example in i915_hwmon.c and
/// xe_hwmon.c of Linux, and what the latter sets for boards that do not state it): 2^18 J a turn.
inline constexpr std::uint64_t kIntelGpuFollowedMicrojoules = (std::uint64_t{1} << 18U) * 1'000'000;

/// How long a mean over a second was seen to stay as it was, where every 100 ms one is due: after a
/// load had ended, three values in three seconds (RTX 3090, drivers 535 and later).
inline constexpr std::chrono::nanoseconds kAverageFreezes = std::chrono::seconds(1);

/// By how much a gauge that averages in a way that nobody has described delays the power, on
/// average, at most. Assumed: Ada boards are reported to show a third of a change where a mean over
/// a second would show three quarters. That is a second-order lag of 1.2 s in all, or a first-order
/// one of 1.8 s.
inline constexpr std::chrono::nanoseconds kAverageLongestLag = std::chrono::seconds(2);

/// How a power gauge samples the power. Absent, or not `known()`: not documented nor observed.
struct GaugeFacts {
  /// Each value is the mean over this long.
  std::optional<std::chrono::nanoseconds> window{};
  UpdateInterval update{};
  /// There is no window: each value follows the power with a first-order lag.
  std::optional<std::chrono::nanoseconds> time_constant{};
  /// Neither of these: an average that nobody has described (see `GaugeTraits`).
  std::optional<std::chrono::nanoseconds> longest_lag{};

  /// The part of all time that the values cover: see `GaugeTraits`.
  [[nodiscard]] std::optional<double> coverage() const noexcept;
};

/// The known properties of an NVIDIA board's sensors.
struct GpuFacts {
  GaugeFacts instant{};  ///< field 186, power.draw.instant
  GaugeFacts average{};  ///< field 185, power.draw.average
  GaugeFacts usage{};    ///< nvmlDeviceGetPowerUsage, power.draw
  /// The scope of its energy counter.
  Scope energy_scope = Scope::device;
  CounterFeed counter_feed = CounterFeed::unknown;
};

/// By the board's name as the driver gives it, "NVIDIA A100-SXM4-80GB"; `driver_branch`: see
/// below. Everything unknown where the table has no such board.
[[nodiscard]] GpuFacts known_gpu(std::string_view board,
                                 std::optional<unsigned> driver_branch) noexcept;

/// The branch of a driver's version: 550 of "550.54.15". Absent where it is no version.
[[nodiscard]] std::optional<unsigned> parse_driver_branch(std::string_view version) noexcept;

}  // namespace wattle
