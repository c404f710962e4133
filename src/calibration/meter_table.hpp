// The log of a wall meter, a PDU, a BMC or a power measurement device, as CSV.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibration/meter_rows.hpp"
#include "run_monitor/tables/table_cell.hpp"
#include "run_monitor/tables/table_figures.hpp"

namespace wattle {

/// The user's description of the file; empty: found in the file.
struct MeterColumns {
  std::string power{};  ///< a title, or the number of a column, from 1 on
  std::string unit{};   ///< "W", "mW", "kW"
};

/// Takes lines of cells between commas: see `TableFile`. Times are seconds, milliseconds and so on
/// since 1970 (by their size), times of day with a date (UTC where no zone is given), or numbers
/// that start anywhere. Threads: one at a time.
class MeterTable : public RowCounts {
 public:
  MeterTable() = default;
  explicit MeterTable(MeterColumns columns) : asked_(std::move(columns)) {}

  /// A line without its end.
  void take(std::string_view line);

  [[nodiscard]] const std::vector<MeterSample>& samples() const noexcept { return samples_; }
  /// True where times are not since 1970: the first sample may be at any time.
  [[nodiscard]] bool is_relative() const noexcept { return kind_ == TimeKind::relative; }
  /// Why it is not clear which column is the power; empty where it is.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  /// The title of the column that was read; empty where there is none.
  [[nodiscard]] const std::string& column() const noexcept { return column_; }
  /// Lines with a time and a number, whatever the column.
  [[nodiscard]] std::uint64_t readable() const noexcept { return readable_; }

 private:
  enum class TimeKind : std::uint8_t { unknown, unix, relative };

  void choose_time();
  void choose_power();
  void choose_asked_power(const std::vector<std::string>& names);
  void choose_unit(std::size_t column);
  [[nodiscard]] std::optional<std::size_t> asked_column() const;
  [[nodiscard]] std::optional<double> time_of_row();
  [[nodiscard]] std::string time_text() const;
  void take_row();

  MeterColumns asked_;
  bool has_begun_ = false;
  std::vector<std::string_view> cells_;  ///< of the line that is being read
  std::vector<std::string> titles_;
  std::size_t time_ = 0;
  std::optional<std::size_t> time_of_day_;  ///< where the date is a column of its own
  double time_unit_s_ = 1.0;
  std::size_t power_ = 1;
  CellUnit unit_{.quantity = CellQuantity::power};
  std::string column_;
  std::string problem_;
  TimeKind kind_ = TimeKind::unknown;
  std::uint64_t readable_ = 0;
  std::vector<MeterSample> samples_;
};

}  // namespace wattle
