// The power of a domain over time, in columns of equal length, at a cost that does not grow with
// the time.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "sampling/history.hpp"
#include "wattle/units.hpp"

namespace wattle::daemon {

/// Equal intervals of time, one after the other.
struct TimeColumns {
  TimePoint begin;
  std::chrono::nanoseconds width;
  std::size_t count;
  std::size_t steps;  ///< into which each is divided for its extremes

  [[nodiscard]] TimePoint edge(std::size_t column) const noexcept {
    return begin + static_cast<std::chrono::nanoseconds::rep>(column) * width;
  }
  [[nodiscard]] TimePoint step(std::size_t step) const noexcept {
    return begin + static_cast<std::chrono::nanoseconds::rep>(step) * width /
                       static_cast<std::chrono::nanoseconds::rep>(steps);
  }
};

/// The power of a column; absent: not known.
struct ColumnPower {
  std::optional<Watts> mean{};
  std::optional<Watts> uncertainty{};  ///< of `mean`, k = 2, sampling only
  /// The extremes of the means of its steps; absent if a column is one step.
  std::optional<Watts> lowest{};
  std::optional<Watts> highest{};
};

/// An end of a column of a counter.
struct CounterEdge {
  Watts power;                          ///< the highest beside it, on both sides
  Watts change;                         ///< of the power from one side to the other
  std::chrono::nanoseconds bracket{0};  ///< between the readings around it
};

/// The end between two times whose power is `before` and `after`.
[[nodiscard]] CounterEdge edge_between(std::optional<Watts> before, std::optional<Watts> after,
                                       std::chrono::nanoseconds bracket) noexcept;

/// The uncertainty of the energy between two ends (k = 2, sampling only).
[[nodiscard]] Joules column_uncertainty(const Channel& counter, const CounterEdge& begin,
                                        const CounterEdge& end) noexcept;

/// The gauge of power that `gauge_columns` is from; null: none showed anything.
[[nodiscard]] const History* shown_gauge(std::span<const History* const> gauges,
                                         const TimeColumns& columns) noexcept;

/// From a counter: differences of what it showed at the edges, interpolated between two readings. A
/// column with an unknown part, or in which it stood still, is unknown. Looks up the counter once
/// per step.
[[nodiscard]] std::vector<ColumnPower> counter_columns(const History& counter,
                                                       const TimeColumns& columns);

/// From the first gauge of power that showed anything. A column known for less than half of its
/// time is unknown. Integrates the gauge once per step. Its uncertainty is not found: that of an
/// integral takes the values in it.
[[nodiscard]] std::vector<ColumnPower> gauge_columns(std::span<const History* const> gauges,
                                                     const TimeColumns& columns);

/// From the gauges where they show power, as in the plots of runs; else from the counter, which may
/// be null.
[[nodiscard]] std::vector<ColumnPower> domain_columns(const History* counter,
                                                      std::span<const History* const> gauges,
                                                      const TimeColumns& columns);

}  // namespace wattle::daemon
