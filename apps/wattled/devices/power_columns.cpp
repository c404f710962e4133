#include "devices/power_columns.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sampling/integrate.hpp"
#include "sampling/uncertainty.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::nanoseconds;
using Edges = std::vector<std::optional<Boundary>>;

/// Widens the extremes of a column.
void extend(ColumnPower& column, Watts power) noexcept {
  column.lowest = std::min(column.lowest.value_or(power), power);
  column.highest = std::max(column.highest.value_or(power), power);
}

/// The mean power of each step; absent where an end of it is.
std::vector<std::optional<Watts>> powers_of(const Channel& counter, const Edges& edges) {
  std::vector<std::optional<Watts>> powers;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    std::optional<Watts> power;
    if (edges[i] && edges[i + 1]) power = counted_power(counter, *edges[i], *edges[i + 1]).power;
    powers.push_back(power);
  }
  return powers;
}

/// The end at the start of a step.
CounterEdge edge_at(const Edges& edges, const std::vector<std::optional<Watts>>& powers,
                    std::size_t step) {
  return edge_between(step > 0 ? powers[step - 1] : std::nullopt,
                      step < powers.size() ? powers[step] : std::nullopt, edges[step]->bracket);
}

}  // namespace

CounterEdge edge_between(std::optional<Watts> before, std::optional<Watts> after,
                         nanoseconds bracket) noexcept {
  const Watts highest = std::max(before.value_or(Watts()), after.value_or(Watts()));
  const Watts change = before && after ? Watts(std::abs((*after - *before).si())) : highest;
  return {.power = highest, .change = change, .bracket = bracket};
}

Joules column_uncertainty(const Channel& counter, const CounterEdge& begin,
                          const CounterEdge& end) noexcept {
  return plain_counter_uncertainty({.power_at_begin = begin.power,
                                    .power_before_end = end.power,
                                    .begin_half_width = nanoseconds(0),
                                    .end_half_width = nanoseconds(0),
                                    .tick = counter.counter.tick,
                                    .update = counter.update,
                                    .begin_interpolation = begin.change * Seconds(begin.bracket),
                                    .end_interpolation = end.change * Seconds(end.bracket)});
}

std::vector<ColumnPower> counter_columns(const History& counter, const TimeColumns& columns) {
  Edges edges;
  for (std::size_t i = 0; i <= columns.count * columns.steps; ++i) {
    edges.push_back(counter.at(columns.step(i)));
  }
  const Seconds width(columns.width);
  const auto powers = powers_of(counter.channel(), edges);
  std::vector<ColumnPower> all(columns.count);
  for (std::size_t i = 0; i < columns.count; ++i) {
    const std::size_t first = i * columns.steps;
    const std::size_t last = first + columns.steps;
    if (!edges[first] || !edges[last]) continue;
    const Condition condition = counter.condition(columns.edge(i), columns.edge(i + 1));
    if (condition.unknown > nanoseconds(0)) continue;
    all[i].mean = counted_power(counter.channel(), *edges[first], *edges[last]).power;
    if (!all[i].mean) continue;
    all[i].uncertainty = column_uncertainty(counter.channel(), edge_at(edges, powers, first),
                                            edge_at(edges, powers, last)) /
                         width;
    for (std::size_t step = first; columns.steps > 1 && step < last; ++step) {
      if (powers[step]) extend(all[i], *powers[step]);
    }
  }
  return all;
}

const History* shown_gauge(std::span<const History* const> gauges,
                           const TimeColumns& columns) noexcept {
  const auto found = std::ranges::find_if(gauges, [&](const History* gauge) {
    return gauge->gauge_window(columns.begin, columns.edge(columns.count)).known > nanoseconds(0);
  });
  return found == gauges.end() ? nullptr : *found;
}

std::vector<ColumnPower> gauge_columns(std::span<const History* const> gauges,
                                       const TimeColumns& columns) {
  std::vector<ColumnPower> all(columns.count);
  const History* const shown = shown_gauge(gauges, columns);
  if (shown == nullptr) return all;
  const History& gauge = *shown;
  const auto power = [&](const GaugeWindow& window, nanoseconds length) -> std::optional<Watts> {
    if (window.known <= nanoseconds(0) || 2 * window.known < length) return std::nullopt;
    return Watts(gauge.channel().scale() * window.mean_raw());
  };
  for (std::size_t i = 0; i < columns.count; ++i) {
    GaugeWindow sum;
    for (std::size_t step = i * columns.steps; step < (i + 1) * columns.steps; ++step) {
      const TimePoint begin = columns.step(step);
      const TimePoint end = columns.step(step + 1);
      const GaugeWindow window = gauge.gauge_window(begin, end);
      sum += window;
      const auto mean = power(window, end - begin);
      if (mean && columns.steps > 1) extend(all[i], *mean);
    }
    all[i].mean = power(sum, columns.width);
    if (!all[i].mean) all[i] = {};
  }
  return all;
}

std::vector<ColumnPower> domain_columns(const History* counter,
                                        std::span<const History* const> gauges,
                                        const TimeColumns& columns) {
  std::vector<ColumnPower> all = gauge_columns(gauges, columns);
  const bool is_known =
      std::ranges::any_of(all, [](const ColumnPower& column) { return column.mean.has_value(); });
  return is_known || counter == nullptr ? all : counter_columns(*counter, columns);
}

}  // namespace wattle::daemon
