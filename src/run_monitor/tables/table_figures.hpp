// The results of the parsers of the run monitor's tables.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "run_monitor/tables/table_cell.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle {

/// How many rows of a table were read. Threads: one at a time.
class RowCounts {
 public:
  /// A line was there that could not be given.
  void take_damaged() noexcept { ++bad_rows_; }
  /// There are no more lines.
  static void end() noexcept {}

  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::uint64_t bad_rows() const noexcept { return bad_rows_; }
  [[nodiscard]] std::uint64_t readable() const noexcept { return rows_; }
  /// Why the first bad row is none; empty where there is none, or where that is not known.
  [[nodiscard]] const std::string& why_bad() const noexcept { return why_bad_; }
  /// Remarks on the figures; empty if there are none.
  [[nodiscard]] static std::string note() { return {}; }

 protected:
  void count_row(bool is_good) noexcept { ++(is_good ? rows_ : bad_rows_); }
  /// A line is no good row. `reason`: asked the first time alone.
  template <class Reason>
  void note_bad(const Reason& reason) {
    if (why_bad_.empty()) why_bad_ = reason();
  }

 private:
  std::string why_bad_;
  std::uint64_t rows_ = 0;
  std::uint64_t bad_rows_ = 0;
};

/// Mean and maximum of numbers that are not negative. In the mean each counts for as long as it
/// stands for. Threads: one at a time.
class WeightedStatistics {
 public:
  /// `weight`: the time that the number stands for, in any unit that all have. Absent where nobody
  /// knows, as of the first row: then it counts as much as the next one.
  [[gnu::always_inline]] void add(const Cell& cell, std::optional<double> weight = 1.0) noexcept {
    if (!cell.is_number()) return;
    const double value = cell.value();
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
    ++count_;
    if (!weight) {
      ++waiting_count_;
      waiting_sum_ += value;
      return;
    }
    if (waiting_count_ != 0) take_waiting(*weight);
    weight_ += *weight;
    sum_ += value * *weight;
  }
  void add(WeightedStatistics other) noexcept {
    if (other.weight_ == 0.0) {
      waiting_count_ += other.waiting_count_;
      waiting_sum_ += other.waiting_sum_;
    } else {
      other.take_waiting(other.weight_ / other.weighed());
    }
    weight_ += other.weight_;
    sum_ += other.sum_;
    min_ = std::min(min_, other.min_);
    count_ += other.count_;
    max_ = std::max(max_, other.max_);
  }
  [[nodiscard]] std::optional<double> mean() const noexcept {
    if (count_ == 0) return std::nullopt;
    WeightedStatistics all = *this;
    all.take_waiting(weight_ == 0.0 ? 1.0 : weight_ / weighed());
    // By rounding it may be beyond them: a GPU that is always at 80 % is not at 80.00000000000001
    // %.
    return std::clamp(all.sum_ / all.weight_, min_, max_);
  }
  [[nodiscard]] std::optional<double> max() const noexcept {
    return count_ == 0 ? std::nullopt : std::optional(max_);
  }

 private:
  /// Those whose weight is known.
  [[nodiscard]] double weighed() const noexcept {
    return static_cast<double>(count_ - waiting_count_);
  }
  void take_waiting(double weight) noexcept {
    weight_ += weight * static_cast<double>(waiting_count_);
    sum_ += weight * waiting_sum_;
    waiting_count_ = 0;
    waiting_sum_ = 0.0;
  }

  std::uint64_t count_ = 0;
  double weight_ = 0.0;
  double sum_ = 0.0;  ///< of numbers times their weights
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = 0.0;
  std::uint64_t waiting_count_ = 0;  ///< numbers whose weight is not known
  double waiting_sum_ = 0.0;
};

/// One row of a table of GPUs.
struct GpuRow {
  std::optional<std::int64_t> time_ms{};
  /// False for a line that was there and is no row: it stands for one, and has no figures.
  bool whole = false;
  Cell util{};
  Cell mem_util{};
  Cell memory{};
  Cell power{};
  // Evidence of whose row it is, where no column names the GPU.
  Cell memory_total{};
  Cell temperature{};
  std::uint32_t model = 0;  ///< a hash of the GPU's name; 0: unknown
  /// Rows that were put together by their order, before and after a change of it which nothing
  /// links, have different numbers: they may be of different GPUs.
  std::uint32_t order = 0;
  /// Rows of one GPU have the same, where it was found by their order; else absent.
  std::optional<std::uint32_t> track{};

  /// No row of a GPU has a share of more than 100 %.
  [[nodiscard]] bool is_good() const noexcept {
    return whole && is_share(util) && is_share(mem_util) && !memory.is_bad() && !power.is_bad();
  }
};

/// Statistics of one GPU, or of all.
struct GpuStatistics {
  WeightedStatistics util;
  WeightedStatistics mem_util;
  WeightedStatistics memory_mib;
  WeightedStatistics power_w;

  /// `weight`: see `WeightedStatistics::add`.
  void add(const GpuRow& row, std::optional<double> weight = 1.0) noexcept {
    util.add(row.util, weight);
    mem_util.add(row.mem_util, weight);
    memory_mib.add(row.memory, weight);
    power_w.add(row.power, weight);
  }
  void add(const GpuStatistics& other) noexcept {
    util.add(other.util);
    mem_util.add(other.mem_util);
    memory_mib.add(other.memory_mib);
    power_w.add(other.power_w);
  }
  [[nodiscard]] GpuFigures figures() const {
    return {.peak_vram_mb = memory_mib.max(),
            .gpu_util_mean_pct = util.mean(),
            .gpu_util_max_pct = util.max(),
            .mem_util_mean_pct = mem_util.mean(),
            .mem_util_max_pct = mem_util.max(),
            .power_watts_mean = power_w.mean(),
            .power_watts_max = power_w.max()};
  }
};

/// The result of a table of GPUs.
struct GpuTable {
  GpuFigures all;
  std::vector<GpuSummary> gpus;
  std::string problem;
  // See `SummaryFile`.
  std::string gpus_by;
  std::uint64_t unassigned_rows = 0;
};

/// The energy of all GPUs from that of each: absent where one is.
void sum_energies(GpuTable& table);

/// More GPUs than any machine has: rows of others count as damaged, so that no file can take more
/// memory than this.
inline constexpr std::size_t kMostGpus = 1024;

}  // namespace wattle
