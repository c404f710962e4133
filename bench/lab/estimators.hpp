// What measures a window in a world: Wattle's ways, and the two that are common elsewhere.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "lab/world.hpp"
#include "wattle/energy.hpp"

namespace wattle::lab {

/// What a way of measuring says. The truth it is held against is that of its own window.
struct Estimate {
  TimePoint begin;
  TimePoint end;
  std::optional<double> energy_j{};      ///< absent where it found none
  std::optional<double> half_width_j{};  ///< the +-, k = 2; absent where it states none
  Flags flags{};
  std::optional<double> energy_beside_j{};  ///< what another way says that was possible too
  double half_width_beside_j = 0.0;         ///< and the +- of that
};

/// Measures about from 0 s to `length_s`. It gives the world its work (`World::work_between`),
/// which begins and ends with the window.
using Estimator = Estimate (*)(World& world, double length_s);

struct Way {
  std::string_view name;
  bool needs_counter;
  bool needs_gauge;
  Estimator estimate;
};

/// How Wattle measures a window.
///
/// `plain`: the counter is read when the window begins and when it ends, and each 100 ms in
/// between, as `wattle run` does. `meter`: an `EnergyMeter`, which reads at both ends alone.
/// `interpolated`: a lane reads the counter at 1 kHz; the window is asked for afterwards.
/// `aligned`: an `EnergyMeter` that waits for updates of the counter. `gauge`: a gauge is read as
/// in `plain`, and summed up. `both`: as `plain` and `gauge`, and the better of the two. `monitor`:
/// a `PowerMonitor` of counter and gauge, asked for the window afterwards. `summary`: what
/// `build_resource_summary` says of the files of a run monitor.
[[nodiscard]] std::span<const Way> modes() noexcept;

/// The power monitor's public face, read by hand: `gauge` and `interpolated` of `modes()` by
/// another road, so their figures are the same.
[[nodiscard]] std::span<const Way> monitor_ways() noexcept;

/// The common ways. None states an error.
///
/// `two reads`: a counter's difference between two reads. `trapezoid`: a gauge is polled twice per
/// update, values that repeat the one before are dropped, and straight lines are drawn through
/// the rest. `1 s polls`: each second, and at the end, the gauge's value times the time since.
[[nodiscard]] std::span<const Way> common_ways() noexcept;

/// Null where there is none of that name.
[[nodiscard]] const Way* find_mode(std::string_view name) noexcept;

/// True if the machine has what the way needs.
[[nodiscard]] bool can_use(const Way& way, const Machine& machine) noexcept;

}  // namespace wattle::lab
