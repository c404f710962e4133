// cpu_metrics.csv: shares of processor time.
#pragma once

#include <cstdint>
#include <string_view>

#include "run_monitor/rounds/row_gaps.hpp"
#include "run_monitor/tables/table_figures.hpp"

namespace wattle {

/// Takes lines `timestamp,usr_pct,idle_pct`, with a header of that start or without. Threads: one
/// at a time.
class CpuTable : public RowCounts {
 public:
  /// A line without its end.
  void take(std::string_view line);
  [[nodiscard]] bool has_header() const noexcept { return has_header_; }
  /// Rows that show by themselves what they are. Without the header, which any table of three
  /// numbers may lack: those with a time and with shares of one whole.
  [[nodiscard]] std::uint64_t readable() const noexcept {
    if (has_header_) return rows();
    return has_other_header_ ? 0 : rows_of_shares_;
  }
  [[nodiscard]] std::optional<double> usr_mean_pct() const noexcept { return usr_.mean(); }
  [[nodiscard]] std::optional<double> idle_mean_pct() const noexcept { return idle_.mean(); }

 private:
  [[nodiscard]] bool take_row(std::string_view line);

  bool has_header_ = false;
  bool has_other_header_ = false;  ///< the first line names other columns
  std::uint64_t rows_of_shares_ = 0;
  WeightedStatistics usr_;
  WeightedStatistics idle_;
  RowGaps gaps_;
};

}  // namespace wattle
