// From a window to a number: the energy, and the mean power, of what was read of a channel; and the
// choice if several channels measure it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sampling/energy_figure.hpp"
#include "sampling/history.hpp"
#include "wattle/export.hpp"

namespace wattle {

/// The most that a reading may be away from the window's end without counting as outside of it.
inline constexpr std::chrono::nanoseconds kReadersOwnTime = std::chrono::milliseconds(5);

/// A window, and the values of a counter at its ends if they were read directly. Without a direct
/// reading an end is interpolated.
struct EnergyWindow {
  TimePoint begin;
  TimePoint end;
  std::optional<Boundary> first{};
  std::optional<Boundary> last{};
  /// Just before the start, as another sensor shows it.
  std::optional<Watts> power_before{};
  /// When all had been read at the end of work that starts and ends with the window. A change of
  /// the power around the start took place there, and values that were read later than this are
  /// not of the work. Absent of any other window.
  std::optional<TimePoint> work_read_until{};
  /// False: one of many windows. It costs less, and does not say what a counter adds up.
  bool looks_at_feed = true;
};

/// From a counter. The time before its first and after its last reading is unknown.
[[nodiscard]] WATTLE_EXPORT EnergyFigure counter_energy(const History& history,
                                                        const EnergyWindow& window);

/// From a gauge of power. Each value counts for as long as it held, clipped at both ends; values
/// that are known to be means are moved back by half the time they are the mean of, and by how late
/// they are on average; for those that overlap see `overlapping_energy`, for averages of an unknown
/// filter `filtered_energy`; of work see `EnergyWindow` and `lacking_of_work`. A window of at most
/// 1000 samples costs as many readings as it holds; the cost of a longer one does not depend on its
/// length except for the gaps in it.
[[nodiscard]] WATTLE_EXPORT EnergyFigure
gauge_energy(const History& history, TimePoint begin, TimePoint end,
             std::optional<TimePoint> work_read_until = {});

/// The flags of how much of the time a gauge sees: a part of it, or nobody knows how much. None for
/// one that sees all of it.
[[nodiscard]] WATTLE_EXPORT Flags coverage_flags(const History& gauge) noexcept;

/// A value of a gauge that held from then on until the next one.
struct HeldValue {
  TimePoint since;
  std::uint64_t raw = 0;
};

/// As `gauge_energy` from the first value to `end`, of a gauge with unknown update interval and
/// averaging window, if all its values are given: in order, at most 1000, the last one before
/// `end`. Costs no history.
[[nodiscard]] WATTLE_EXPORT EnergyFigure held_energy(const Channel& channel,
                                                     std::span<const HeldValue> values,
                                                     TimePoint end);

/// The one that is least uncertain, the others as its alternatives. Where two disagree by more than
/// their uncertainties and what such sensors are known to be off, that is flagged, and a counter
/// preferred: it misses no time. It is also preferred to a gauge that misses time, or may miss
/// time, unless the window is too short for the counter. An average comes after a counter or an
/// instant gauge that knows the whole window, however small its uncertainty: nobody has described
/// its filter. One that shows no energy at all comes last. At least one figure; of equals, the
/// first is taken.
[[nodiscard]] WATTLE_EXPORT EnergyFigure best_energy(std::vector<EnergyFigure> figures);

/// The energy of a domain in a window, by every way that there is: the one place where a domain's
/// figure is chosen. `counter` may be null; `gauges` are of power. One of them at least.
[[nodiscard]] WATTLE_EXPORT EnergyFigure domain_energy(const History* counter,
                                                       std::span<const History* const> gauges,
                                                       const EnergyWindow& window);

/// A mean power; absent where it is not known.
struct MeanPower {
  std::optional<Watts> power{};
  std::string_view reason{};  ///< why it is absent, if its counter is the cause; static storage

  [[nodiscard]] bool is_stuck() const noexcept { return reason == kCounterStuck; }
};

/// The mean power of a counter that passed `ticks` in `length`, whatever happened in between.
/// Absent for no time.
[[nodiscard]] MeanPower counted_power(const Channel& counter, double ticks,
                                      std::chrono::nanoseconds length) noexcept;
/// The same from one value to a later one.
[[nodiscard]] MeanPower counted_power(const Channel& counter, const Boundary& first,
                                      const Boundary& last) noexcept;

/// The mean power of a domain in a window, as in `domain_energy`: from the counter where it was
/// read at both ends; else from the first gauge that had a value for at least half of the time.
/// Absent where the counter lost track in between.
[[nodiscard]] MeanPower domain_power(const History* counter, std::span<const History* const> gauges,
                                     const EnergyWindow& window) noexcept;

}  // namespace wattle
