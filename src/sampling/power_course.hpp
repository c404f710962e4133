// Power over time in columns of equal length, for a plot: as many as it can show, however long the
// time was.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "sampling/history.hpp"
#include "wattle/domain.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// The power of a domain, or of several together, over one column.
struct PowerColumn {
  std::optional<Watts> mean;  ///< over its known time; absent where nothing is known
  Watts uncertainty;          ///< of `mean`, k = 2, sampling only
  /// The extremes of the means over one `PowerCourse::step`; absent where a column is one step, or
  /// none is known.
  std::optional<Watts> lowest;
  std::optional<Watts> highest;
};

struct DomainCourse {
  Domain domain;
  std::vector<PowerColumn> columns;
};

struct PowerCourse {
  Seconds length{0};
  Seconds column{0};  ///< the last column may be shorter
  Seconds step{0};    ///< an interval of the run, or a multiple of it where the run is very long
  std::vector<DomainCourse> domains;
  /// The sum of the domains that count in a total; empty with fewer than two of them.
  std::vector<PowerColumn> total;
};

/// What was read of a domain: a counter (may be null), gauges of power, or both.
struct CourseSource {
  Domain domain;
  const History* counter = nullptr;
  std::span<const History* const> gauges{};
};

struct CourseAsked {
  TimePoint begin;
  TimePoint end;
  std::chrono::nanoseconds interval{0};  ///< how often the sources were read; above 0
  std::size_t most_columns = 720;
};

/// Costs a few micro-seconds per column and domain, and 0.2 us per step. Empty where `end` is not
/// after `begin`.
[[nodiscard]] PowerCourse power_course(std::span<const CourseSource> sources,
                                       const CourseAsked& asked);

}  // namespace wattle
