#include "history/past_windows.hpp"

#include <algorithm>

#include "sampling/integrate.hpp"

namespace wattle::daemon {
namespace {

/// A window of which nothing is known.
EnergyFigure unknown_energy(TimePoint begin, TimePoint end) {
  EnergyFigure figure;
  figure.unknown = Seconds(end - begin);
  figure.flags.set(Flag::gap);
  return figure;
}

}  // namespace

EnergyFigure joined_windows(const EnergyFigure& first, const EnergyFigure& second) {
  EnergyFigure sum;
  UncertaintySum errors;
  for (const EnergyFigure* const part : {&first, &second}) {
    sum.flags |= part->flags;
    sum.known += part->known;
    sum.unknown += part->unknown;
    if (!part->energy) continue;
    sum.energy = sum.energy.value_or(Joules()) + *part->energy;
    sum.method = part->method;
    sum.metric = part->metric;
    sum.quantity = part->quantity;
    errors.add(part->uncertainty, part->common);
  }
  sum.uncertainty = errors.uncertainty();
  sum.common = errors.common();
  return sum;
}

EnergyFigure past_energy(const std::vector<PastEra>& eras, TimePoint begin, TimePoint end) {
  EnergyFigure sum;
  TimePoint from = begin;
  for (const PastEra& era : eras) {
    if (era.first > era.last) continue;
    const TimePoint first = std::clamp(era.first, from, end);
    const TimePoint last = std::clamp(era.last, from, end);
    if (last <= first) continue;
    if (first > from) sum = joined_windows(sum, unknown_energy(from, first));
    const std::vector<const History*> gauges = era.gauges();
    sum = joined_windows(sum, domain_energy(era.counter(), gauges, {.begin = first, .end = last}));
    from = last;
  }
  return end > from ? joined_windows(sum, unknown_energy(from, end)) : sum;
}

std::vector<ColumnPower> best_columns(const History* counter,
                                      std::span<const History* const> gauges,
                                      const TimeColumns& columns) {
  std::vector<ColumnPower> all = gauge_columns(gauges, columns);
  const bool is_known =
      std::ranges::any_of(all, [](const ColumnPower& column) { return column.mean.has_value(); });
  return is_known || counter == nullptr ? all : counter_columns(*counter, columns);
}

std::vector<ColumnPower> past_columns(const std::vector<PastEra>& eras,
                                      const TimeColumns& columns) {
  std::vector<ColumnPower> all(columns.count);
  for (const PastEra& era : eras) {
    const std::vector<ColumnPower> found = best_columns(era.counter(), era.gauges(), columns);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].mean) all[i] = found[i];
    }
  }
  return all;
}

}  // namespace wattle::daemon
