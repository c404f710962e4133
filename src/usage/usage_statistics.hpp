// Maxima and means of a process tree over an interval.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "usage/tree/tree_state.hpp"
#include "wattle/tracker.hpp"

namespace wattle {

/// How busy something was, from a total that grows. Threads: one at a time.
class CpuPercentTracker {
 public:
  using Time = std::chrono::nanoseconds;

  void begin(TimePoint at, Time cpu) noexcept;
  /// `ends_span`: the mean since the last span's end counts for the maximum.
  void add(TimePoint at, Time cpu, bool ends_span) noexcept;
  /// The time since the last span counts as well, unless it is much shorter than a span.
  void end() noexcept;
  /// In percent, over everything and over the busiest span.
  [[nodiscard]] std::optional<double> mean() const noexcept;
  [[nodiscard]] std::optional<double> max() const noexcept;

 private:
  struct CpuTimePoint {
    TimePoint at;
    Time cpu{0};
  };
  void end_span() noexcept;

  CpuTimePoint begin_;
  CpuTimePoint span_;
  CpuTimePoint last_;
  std::optional<double> max_;
};

/// Threads: one at a time.
class UsageStatistics {
 public:
  /// `includes_memory`: false where what runs by then is not yet what is to be tracked.
  void begin(const TreeState& state, bool includes_memory = true) noexcept;
  void add(const TreeState& state) noexcept;
  void end() noexcept;

  /// Fills the groups of main, descendants and combined in the units that stand in `usage`, whose
  /// `n_expected_cores` divides, and `peak_pss_bytes`. `peaks`: what single processes held at most,
  /// also between two samples.
  void fill(ResourceUsage& usage, const PssGaps& gaps, const PeakMemory& peaks = {}) const;

 private:
  /// The sample with the largest total.
  struct MemoryPeak {
    std::uint64_t total = 0;
    std::uint64_t of_own = 0;
    void update(std::uint64_t seen_total, std::uint64_t seen_own) noexcept;
  };
  /// A group's memory: largest in the samples in which it was known, and in which bounds were.
  struct MemoryPeaks {
    MemoryPeak known;
    MemoryPeak bound;
    std::uint64_t least = 0;          ///< what was there in any sample with bounds
    std::uint64_t most_resident = 0;  ///< in any sample; what processes share counts in each
    void update(const GroupState& state) noexcept;
    /// False where more was there in another sample, or nothing was known in any.
    [[nodiscard]] bool is_known() const noexcept;
    [[nodiscard]] bool has_larger_bound() const noexcept;
  };
  struct GroupStatistics {
    CpuPercentTracker busy;
    MemoryPeaks memory;
    std::uint64_t threads = 0;
  };

  void add_sample(const TreeState& state) noexcept;
  void fill_memory(ResourceUsage& usage, const PeakMemory& peaks) const;
  static void fill_memory_of(ResourceUsage& usage, RSSValues& values, const MemoryPeaks& peaks,
                             bool is_total_exact, std::uint64_t peak_bytes, const std::string& key);
  void fill_pss(ResourceUsage& usage, const PssGaps& gaps) const;
  void fill_threads(ResourceUsage& usage) const;

  GroupStatistics main_;
  GroupStatistics descendants_;
  GroupStatistics combined_;
};

}  // namespace wattle
