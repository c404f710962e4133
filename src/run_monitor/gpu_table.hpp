// hw_metrics.csv: rows of `nvidia-smi --query-gpu`.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run_monitor/gpu_rounds.hpp"
#include "run_monitor/row_gaps.hpp"
#include "run_monitor/table_figures.hpp"
#include "run_monitor/table_power.hpp"

namespace wattle {

/// Takes cells between commas. Without a header the nine columns of the run monitor: timestamp,
/// utilization.gpu, utilization.memory, memory.used, memory.total, power.draw, temperature.gpu and
/// two clocks; a header names others. GPUs are identified by a column index or uuid, else by the
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

 private:
  static constexpr std::size_t kMostColumns = 64;
  static constexpr std::size_t kNone = kMostColumns;
  struct Columns {
    std::size_t count = 9;
    std::size_t timestamp = 0;
    std::size_t util = 1;
    std::size_t mem_util = 2;
    std::size_t memory = 3;
    std::size_t power = 5;
    std::size_t index = kNone;
    std::size_t uuid = kNone;
  };
  using Cells = std::array<std::string_view, kMostColumns + 1>;  ///< after the last: empty
  struct Gpu {
    std::string name;
    GpuSpreads spreads{};
    RowGaps gaps{};
    TablePower power{};
    std::vector<GpuRow> early{};  ///< until it is known how often rows come
    bool has_pace = false;
  };

  /// Fills `cells_`; their number, at most one more than there is room for.
  std::size_t split(std::string_view line) noexcept;
  [[nodiscard]] bool take_header(std::string_view line);
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
    return columns_.index != kNone || columns_.uuid != kNone;
  }

  Columns columns_;
  Cells cells_;  ///< of the line that is being read
  std::vector<Gpu> gpus_;
  GpuRowAssigner rounds_;
  std::vector<GpuRowAssigner::AssignedRow> placed_;  ///< reused
  bool lacks_time_ = false;                          ///< some rows had neither a name nor a time
};

}  // namespace wattle
