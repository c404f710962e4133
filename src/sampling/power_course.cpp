#include "sampling/power_course.hpp"

#include <algorithm>
#include <cstdint>

#include "base/numbers/known_sum.hpp"
#include "sampling/integrate.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

/// Steps in a column, at most: more take long and show nothing.
constexpr std::int64_t kMostSteps = 128;

constexpr std::int64_t divided_up(std::int64_t a, std::int64_t b) noexcept {
  return (a + b - 1) / b;
}

/// The columns and steps of a time. The steps start where the intervals of the run did.
struct Grid {
  TimePoint begin;
  TimePoint end;
  nanoseconds column{0};
  nanoseconds step{0};
  std::size_t columns = 0;

  [[nodiscard]] std::size_t steps_per_column() const noexcept {
    return static_cast<std::size_t>(column / step);
  }
};

Grid grid_of(const CourseOptions& options) noexcept {
  const auto length = std::max(options.end - options.begin, TimePoint::duration(0));
  const std::int64_t intervals = divided_up(length.count(), options.interval.count());
  const auto most = static_cast<std::int64_t>(std::max<std::size_t>(options.most_columns, 1));
  const std::int64_t per_column = std::max<std::int64_t>(divided_up(intervals, most), 1);
  const std::int64_t per_step = divided_up(per_column, kMostSteps);
  Grid grid{.begin = options.begin, .end = options.begin + length};
  grid.step = per_step * options.interval;
  grid.column = divided_up(per_column, per_step) * grid.step;
  grid.columns = static_cast<std::size_t>(divided_up(length.count(), grid.column.count()));
  return grid;
}

/// The sources of power, the best first: the gauge, which is read at each interval, as for a
/// series; then the counter, for the columns in which the gauge shows nothing. The energy of a
/// counter that is renewed ten times a second at best says little about a tenth of a second.
std::vector<CourseSource> shown_sources(const CourseSource& source) {
  std::vector<CourseSource> shown;
  if (!source.gauges.empty()) shown.push_back({.domain = source.domain, .gauges = source.gauges});
  if (source.counter != nullptr) {
    shown.push_back({.domain = source.domain, .counter = source.counter});
  }
  return shown;
}

/// Absent where a part of the time is unknown.
std::optional<Watts> step_power(const CourseSource& source, TimePoint begin, TimePoint end) {
  if (source.counter == nullptr) {
    return domain_power(nullptr, source.gauges, {.begin = begin, .end = end}).power;
  }
  const History& counter = *source.counter;
  const std::optional<double> ticks = counter.values().ticks_between(begin, end);
  if (!ticks || counter.condition(begin, end).unknown > nanoseconds(0)) return std::nullopt;
  return counted_power(counter.channel(), *ticks, end - begin).power;
}

void extend(PowerColumn& column, Watts power) noexcept {
  column.lowest = std::min(column.lowest.value_or(power), power);
  column.highest = std::max(column.highest.value_or(power), power);
}

/// Where the steps of a source start, and where the last one ends. A counter that was read near
/// such a time is options about the time of that reading: between two readings it would be
/// uncertain.
std::vector<TimePoint> edges_of(const CourseSource& source, const Grid& grid,
                                nanoseconds interval) {
  std::vector<TimePoint> edges;
  for (TimePoint at = grid.begin; at < grid.end; at += grid.step) edges.push_back(at);
  edges.push_back(grid.end);
  if (source.counter == nullptr) return edges;
  std::vector<std::optional<TimePoint>> readings(edges.size());
  const auto distance = [](TimePoint a, TimePoint b) { return a < b ? b - a : a - b; };
  std::size_t next = 0;
  source.counter->values().for_each(
      grid.begin - interval, grid.end + interval, [&](const StoredReading& reading) {
        const TimePoint at = reading.first_seen;
        while (next < edges.size() && edges[next] + interval / 2 < at) ++next;
        for (std::size_t i = next; i < edges.size() && edges[i] - interval / 2 <= at; ++i) {
          auto& near = readings[i];
          if (!near || distance(at, edges[i]) < distance(*near, edges[i])) near = at;
        }
      });
  std::vector<TimePoint> near;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const TimePoint at = readings[i].value_or(edges[i]);
    // Where a reading was missed, two edges would be one.
    near.push_back(near.empty() || at > near.back() ? at : std::max(edges[i], near.back()));
  }
  return near;
}

/// A step of the domains that count in a total.
struct SumOfStep {
  Watts power;
  std::size_t known = 0;  ///< domains in it
};

/// The mean power of a column, and its uncertainty; its extremes come later.
PowerColumn mean_of(const CourseSource& source, TimePoint begin, TimePoint end) {
  PowerColumn column;
  const EnergyFigure figure = domain_energy(source.counter, source.gauges,
                                            {.begin = begin, .end = end, .looks_at_feed = false});
  // Steps that are too short to show that the counter is stuck would be 0 W.
  if (!figure.energy || figure.known <= Seconds(0)) return column;
  column.mean = source.counter == nullptr ? step_power(source, begin, end)
                                          : std::optional(*figure.energy / figure.known);
  if (!column.mean) return column;
  column.uncertainty = figure.uncertainty / figure.known;
  column.common = figure.common / figure.known;
  return column;
}

/// Fills those columns of one domain that are unknown; what their steps are is added to `sums`,
/// where there are any.
void fill_columns(std::vector<PowerColumn>& columns, const CourseSource& source, const Grid& grid,
                  const std::vector<TimePoint>& edges, std::vector<SumOfStep>* sums) {
  const std::size_t per_column = grid.steps_per_column();
  const std::size_t steps = edges.size() - 1;
  for (std::size_t i = 0; i < grid.columns; ++i) {
    PowerColumn& column = columns[i];
    if (column.mean) continue;
    const std::size_t first = i * per_column;
    const std::size_t last = std::min(first + per_column, steps);
    column = mean_of(source, edges[first], edges[last]);
    if (!column.mean || per_column == 1) continue;
    for (std::size_t k = first; k < last; ++k) {
      // The rest of an interval at the end says little.
      const bool is_whole = 2 * (edges[k + 1] - edges[k]) >= grid.step;
      const auto power = is_whole ? step_power(source, edges[k], edges[k + 1]) : std::nullopt;
      if (!power) continue;
      extend(column, *power);
      if (sums == nullptr) continue;
      SumOfStep& sum = (*sums)[k];
      ++sum.known;
      sum.power += *power;
    }
  }
}

bool is_known(const PowerColumn& column) noexcept { return column.mean.has_value(); }

/// Where one of the domains is unknown, so is the sum.
std::vector<PowerColumn> sum_of(const std::vector<const DomainCourse*>& domains, const Grid& grid,
                                const std::vector<SumOfStep>& steps) {
  std::vector<PowerColumn> total(grid.columns);
  const std::size_t per_column = grid.steps_per_column();
  for (std::size_t i = 0; i < grid.columns; ++i) {
    PowerColumn& sum = total[i];
    KnownSum<Watts> mean;
    UncertaintySum errors;  // in joules a second
    for (const DomainCourse* course : domains) {
      const PowerColumn& column = course->columns[i];
      mean.add(column.mean);
      errors.add(Joules(column.uncertainty.si()), Joules(column.common.si()));
    }
    sum.mean = mean.value();
    if (!sum.mean) continue;
    sum.uncertainty = Watts(errors.uncertainty().si());
    sum.common = Watts(errors.common().si());
    for (std::size_t k = i * per_column; k < std::min(steps.size(), (i + 1) * per_column); ++k) {
      if (steps[k].known == domains.size()) extend(sum, steps[k].power);
    }
  }
  return total;
}

/// Neighbours as one column. The errors at the ends between them cancel, so that the mean of their
/// uncertainties is above that of the whole.
/// `last`: the length of the last of them, in whole columns.
PowerColumn joined_column(std::span<const PowerColumn> columns, double last) {
  PowerColumn sum;
  double known = 0.0;
  Watts mean;
  Watts uncertainty;
  for (const PowerColumn& column : columns) {
    if (!column.mean) continue;
    const double length = &column == &columns.back() ? last : 1.0;
    known += length;
    mean += *column.mean * length;
    uncertainty += column.uncertainty * length;
    extend(sum, column.lowest.value_or(*column.mean));
    extend(sum, column.highest.value_or(*column.mean));
  }
  if (known == 0.0) return sum;
  sum.mean = mean / known;
  sum.uncertainty = uncertainty / known;
  return sum;
}

std::vector<PowerColumn> joined_columns(const std::vector<PowerColumn>& columns,
                                        std::size_t per_column, double last) {
  std::vector<PowerColumn> all;
  for (std::size_t i = 0; i < columns.size(); i += per_column) {
    const bool is_whole = i + per_column < columns.size();
    const std::size_t count = std::min(per_column, columns.size() - i);
    all.push_back(joined_column(std::span(columns).subspan(i, count), is_whole ? 1.0 : last));
  }
  return all;
}

}  // namespace

PowerCourse PowerCourse::coarser(std::size_t most) const {
  const std::size_t per_column = (count() + most - 1) / most;
  if (per_column < 2) return *this;
  // A saved run may have any lengths.
  const double last = std::clamp(length / column - static_cast<double>(count() - 1), 0.0, 1.0);
  PowerCourse course{.length = length,
                     .column = column * static_cast<double>(per_column),
                     .step = step,
                     .domains = {},
                     .total = joined_columns(total, per_column, last)};
  for (const DomainCourse& domain : domains) {
    course.domains.push_back({domain.name, joined_columns(domain.columns, per_column, last)});
  }
  return course;
}

PowerCourse power_course(std::span<const CourseSource> sources, const CourseOptions& options) {
  const Grid grid = grid_of(options);
  PowerCourse course{.length = grid.end - grid.begin, .column = grid.column, .step = grid.step};
  if (grid.columns == 0) return course;
  std::vector<SumOfStep> steps;
  for (const CourseSource& domain : sources) {
    const bool counts = counts_in_total(domain.domain.kind());
    std::vector<PowerColumn> columns(grid.columns);
    for (const CourseSource& source : shown_sources(domain)) {
      const std::vector<TimePoint> edges = edges_of(source, grid, options.interval);
      steps.resize(edges.size() - 1);
      fill_columns(columns, source, grid, edges, counts ? &steps : nullptr);
    }
    course.domains.push_back({domain.domain.name(), std::move(columns)});
  }
  std::vector<const DomainCourse*> counted;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const DomainCourse& domain = course.domains[i];
    if (counts_in_total(sources[i].domain.kind()) &&
        std::ranges::any_of(domain.columns, is_known)) {
      counted.push_back(&domain);
    }
  }
  if (counted.size() > 1) course.total = sum_of(counted, grid, steps);
  return course;
}

}  // namespace wattle
