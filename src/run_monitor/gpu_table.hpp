// hw_metrics.csv: rows of `nvidia-smi --query-gpu`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run_monitor/gpu_rounds.hpp"
#include "run_monitor/gpu_row_reader.hpp"
#include "run_monitor/row_gaps.hpp"
#include "run_monitor/table_figures.hpp"
#include "run_monitor/table_power.hpp"

namespace wattle {

/// Takes lines as `GpuRowReader` does. GPUs are identified by a column index or uuid, else by the
/// order of the rows (see GpuRowAssigner). Threads: one at a time.
class GpuCsv : RowCounts {
 public:
  /// A line without its end.
  void take(std::string_view line);
  /// A line was there that could not be given.
  void take_damaged();

  /// So far; costs a copy of everything.
  [[nodiscard]] std::uint64_t rows() const { return ended().RowCounts::rows(); }
  [[nodiscard]] std::uint64_t bad_rows() const { return ended().RowCounts::bad_rows(); }
  [[nodiscard]] GpuTable result() const;
  using RowCounts::why_bad;
  /// Rows that say something, whosever they are.
  [[nodiscard]] std::uint64_t readable() const noexcept { return readable_; }
  [[nodiscard]] bool has_header() const noexcept { return reader_.has_header(); }
  [[nodiscard]] std::string note() const { return reader_.note(); }

 private:
  struct Gpu {
    std::string name;
    GpuSpreads spreads{};
    RowGaps gaps{};
    TablePower power{};
    std::vector<GpuRow> early{};  ///< until it is known how often rows come
    bool has_pace = false;
  };

  void take_row(std::string_view line);
  /// Counts what the rows say whose places were found.
  void count_placed();
  /// `gpu`: null for a row that is no good, or of which that is not known.
  void count(Gpu* gpu, const GpuRow& row);
  static void settle(Gpu& gpu);
  static void add(Gpu& gpu, const GpuRow& row);
  /// Null where there are too many.
  [[nodiscard]] Gpu* gpu_at(std::size_t place);
  [[nodiscard]] Gpu* gpu_named(std::string_view name);
  [[nodiscard]] GpuTable figures() const;
  /// As if there were no more rows.
  [[nodiscard]] GpuCsv ended() const;
  [[nodiscard]] bool has_names() const noexcept {
    return reader_.has_index() || reader_.has_uuid();
  }

  GpuRowReader reader_;
  std::uint64_t readable_ = 0;
  std::vector<Gpu> gpus_;
  GpuRowAssigner rounds_;
  std::vector<GpuRowAssigner::AssignedRow> placed_;  ///< reused
  bool lacks_time_ = false;                          ///< some rows had neither a name nor a time
};

}  // namespace wattle
