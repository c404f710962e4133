// hw_metrics.csv: rows of `nvidia-smi --query-gpu`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run_monitor/rounds/gpu_row_reader.hpp"
#include "run_monitor/rounds/row_assignment.hpp"
#include "run_monitor/rounds/row_gaps.hpp"
#include "run_monitor/rounds/shared_number.hpp"
#include "run_monitor/tables/table_figures.hpp"
#include "run_monitor/tables/table_power.hpp"

namespace wattle {

/// Takes lines as `GpuRowReader` does. GPUs are identified by a column uuid, serial,
/// pci.bus_id or index, else by the order of the rows (see RowAssigner). Threads: one at a time.
class GpuCsv : RowCounts {
 public:
  /// A line without its end.
  void take(std::string_view line);
  /// A line was there that could not be given.
  void take_damaged();
  /// There are no more lines: after it the rows are counted, and the result is known. Once.
  void end();

  /// How many GPUs the rows are of, where something else shows it; before the first line.
  void expect_gpus(const ExpectedGpus& expected) {
    expected_ = expected;
    assigner_.expect_gpus(expected);
  }
  /// Whose a row is does not matter; before the first line.
  void take_for_one_gpu() noexcept { is_for_one_gpu_ = true; }

  using RowCounts::bad_rows;
  using RowCounts::rows;
  using RowCounts::why_bad;
  [[nodiscard]] GpuTable result() const;
  /// Rows that say something, whosever they are.
  [[nodiscard]] std::uint64_t readable() const noexcept { return readable_; }
  [[nodiscard]] bool has_header() const noexcept { return reader_.has_header(); }
  [[nodiscard]] std::string note() const { return reader_.note(); }

 private:
  /// The rows since the last one of a GPU.
  struct RowsBetween {
    PossiblePowers powers{};  ///< of those that may be its own
    std::uint64_t rows = 0;   ///< of all GPUs
  };
  /// A change after which no GPU is recognized, from the first of the last rows before it.
  struct OrderBreak {
    std::uint32_t order = 0;  ///< after it
    std::int64_t begin_ms = 0;
    std::int64_t end_ms = 0;
    std::int64_t longest_ms = 0;  ///< of one GPU

    /// For how long some GPU lacks its power beyond the longest time of one.
    [[nodiscard]] std::int64_t beyond_ms() const noexcept {
      return std::max(std::int64_t{0}, end_ms - begin_ms - longest_ms);
    }
  };
  struct CsvGpu {
    std::string key{};       ///< its UUID, or what the table has instead
    std::string name{};      ///< its number, or the key
    std::string spelling{};  ///< the key as all tools would write it
    GpuStatistics spreads{};
    RowGaps gaps{};
    TablePower power{};
    RowsBetween between{};
    std::uint64_t counted_rows = 0;  ///< of the table, up to its last one
    std::int64_t counted_ms = 0;     ///< of its last row
    std::uint32_t counted_order = 0;
    /// Until it is known how often rows come.
    std::vector<std::pair<GpuRow, RowsBetween>> early{};
    bool has_pace = false;
    std::optional<std::int64_t> first_ms{};
    std::int64_t last_ms = 0;
    std::uint32_t order = 0;    ///< of its last row
    SharedNumber shared{};      ///< where it has no UUID
    bool starts_again = false;  ///< its rows cover the same time twice
  };

  void take_row(std::string_view line);
  [[gnu::always_inline]] void note_row(const GpuRow& row, std::string_view line) {
    if (row.is_good()) {
      ++readable_;
    } else {
      note_bad_row(line);
    }
    if (row.whole && row.time_ms) {
      if (!first_ms_) first_ms_ = row.time_ms;
      last_ms_ = *row.time_ms;
    }
  }
  void note_bad_row(std::string_view line);
  void take_named(std::string_view line);
  /// Counts what the rows say whose GPUs were found. Valid as long as this.
  [[nodiscard]] RowAssigner::TakeRows counting();
  void give_rows();
  /// `gpu`: null for a row that is no good, or has a name that no GPU has.
  void count(CsvGpu* gpu, const GpuRow& row);
  void count_assigned(const GpuRow& row);
  void note_break(const CsvGpu& gpu, const GpuRow& row) noexcept;
  void count_unassigned(const GpuRow& row);
  static void note_back(CsvGpu& gpu, const RowGaps::RowGap& gap, std::int64_t time_ms) noexcept;
  void settle(CsvGpu& gpu) const;
  void add(CsvGpu& gpu, const GpuRow& row, const RowsBetween& between) const;
  /// True if rows of a GPU are missing while those of others went on.
  [[nodiscard]] bool stopped_alone(const RowGaps::RowGap& gap,
                                   const RowsBetween& between) const noexcept;
  /// Null where there are too many.
  [[nodiscard]] CsvGpu* gpu_at(std::size_t place) {
    return place < gpus_.size() ? &gpus_[place] : new_gpu_at(place);
  }
  [[nodiscard]] CsvGpu* new_gpu_at(std::size_t place);
  /// One that has the key in another spelling, or was known by its number alone; or null.
  [[nodiscard]] CsvGpu* same_gpu(std::string_view key, std::string_view number);
  /// That of the row that is being read; null where it has no name, or there are too many.
  [[nodiscard]] CsvGpu* named_gpu();
  [[nodiscard]] std::string name_of(std::size_t gpu) const;
  /// Before its first row, and after its last one, while there were others.
  [[nodiscard]] Seconds absence_of(std::size_t gpu) const;
  /// The reason why the rows are not those of one GPU each; empty if there is none.
  [[nodiscard]] std::string why_mixed() const;
  /// The evidence that rows of one name are of several GPUs; empty if there is none.
  [[nodiscard]] std::string shared_number() const;
  [[nodiscard]] std::string gpus_by() const;
  [[nodiscard]] bool has_names() const noexcept {
    return reader_.has_index() || reader_.has_uuid();
  }
  /// Nothing but the rows shows whose they are.
  [[nodiscard]] bool guesses_gpus() const noexcept {
    return !has_names() && !is_for_one_gpu_ && reader_.has_time();
  }

  GpuRowReader reader_;
  std::uint64_t readable_ = 0;
  std::vector<CsvGpu> gpus_;
  RowAssigner assigner_;
  bool is_for_one_gpu_ = false;
  std::optional<ExpectedGpus> expected_;
  std::optional<std::int64_t> first_ms_{};  ///< of a row that is whole
  std::int64_t last_ms_ = 0;
  GpuStatistics unassigned_;  ///< of rows whose GPU is not known
  std::uint64_t unassigned_rows_ = 0;
  std::optional<std::int64_t> first_unassigned_ms_{};
  std::optional<std::int64_t> last_unassigned_ms_{};
  OrderBreak break_{};                 ///< the last one
  std::int64_t breaks_beyond_ms_ = 0;  ///< of those before it
  bool mixes_names_ = false;           ///< some rows name their GPU, and others do not
  bool lacks_time_ = false;            ///< some rows had neither a name nor a time
};

}  // namespace wattle
