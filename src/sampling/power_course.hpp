// Power over time in columns of equal length: what a page draws and the history of runs keeps,
// however long the time was.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sampling/history.hpp"
#include "wattle/domain.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// The power of a domain, or of several together, over one column.
struct PowerColumn {
  std::optional<Watts> mean;  ///< over its known time; absent where nothing is known
  Watts uncertainty;          ///< of `mean`, k = 2, sampling only
  Watts common{};             ///< the part of that which comes back; not kept in bytes
  /// The extremes of the means over one `PowerCourse::step`; absent where a column is one step, or
  /// none is known.
  std::optional<Watts> lowest;
  std::optional<Watts> highest;
};

struct DomainCourse {
  std::string name;  ///< "package_0": of this machine, or of one whose run was saved
  std::vector<PowerColumn> columns;
};

/// Threads: a value type.
struct PowerCourse {
  static constexpr std::size_t kMostColumns = 1000;
  static constexpr std::size_t kMostDomains = 10'000;  ///< that are read back

  Seconds length{0};
  Seconds column{0};  ///< the last column may be shorter
  Seconds step{0};    ///< an interval of the run, or a multiple of it where the run is very long
  std::vector<DomainCourse> domains;
  /// The sum of the domains that count in a total, without those that are unknown throughout; empty
  /// with fewer than two of them. Where one of them is unknown, so is the sum.
  std::vector<PowerColumn> total;

  /// Columns of each domain.
  [[nodiscard]] std::size_t count() const noexcept {
    return domains.empty() ? 0 : domains.front().columns.size();
  }
  /// The same in at most `most` columns, at least 1. Their uncertainty is at most what is stated.
  [[nodiscard]] PowerCourse coarser(std::size_t most) const;
  /// As bytes: about 5 per column and domain, to the milliwatt.
  [[nodiscard]] std::string packed() const;
  /// The inverse; absent for anything else.
  [[nodiscard]] static std::optional<PowerCourse> unpacked(std::string_view bytes);
};

/// The readings of a domain: a counter (may be null), gauges of power, or both. Where a gauge
/// showed anything, its power is the course; else that of the counter.
struct CourseSource {
  Domain domain;
  const History* counter = nullptr;
  std::span<const History* const> gauges{};
};

struct CourseOptions {
  TimePoint begin;
  TimePoint end;
  std::chrono::nanoseconds interval{0};  ///< how often the sources were read; above 0
  std::size_t most_columns = 720;        ///< at most `PowerCourse::kMostColumns`
};

/// Costs a few micro-seconds per column and domain, and 0.2 us per step. Empty where `end` is not
/// after `begin`.
[[nodiscard]] PowerCourse power_course(std::span<const CourseSource> sources,
                                       const CourseOptions& options);

}  // namespace wattle
