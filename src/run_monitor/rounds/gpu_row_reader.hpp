// Lines of `nvidia-smi --query-gpu` as rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "run_monitor/tables/any_time.hpp"
#include "run_monitor/tables/table_cell.hpp"
#include "run_monitor/tables/table_figures.hpp"

namespace wattle {

/// Takes cells between commas. Without a header the nine columns of the run monitor: timestamp,
/// utilization.gpu, utilization.memory, memory.used, memory.total, power.draw, temperature.gpu and
/// two clocks; a header names others, and their units. Threads: one at a time.
class GpuRowReader {
 public:
  /// True for a header, whose columns count from then on.
  [[nodiscard]] bool take_header(std::string_view line);
  /// Not whole where the line has other columns, or a time that is none.
  [[nodiscard]] GpuRow read(std::string_view line) noexcept {
    GpuRow row;
    read(line, row);
    return row;
  }
  /// The same, into a row that may be of another line.
  void read(std::string_view line, GpuRow& row) noexcept;

  /// The index in the last row; empty if there is no such column.
  [[nodiscard]] std::string_view index() const noexcept;
  /// The UUID, or where there is none the serial number or the PCI address; empty for none. GPUs of
  /// one card share a serial number: `place` distinguishes them.
  [[nodiscard]] std::string_view uuid() const noexcept;
  /// The PCI address or else the number, beside a serial number; else empty.
  [[nodiscard]] std::string_view place() const noexcept;
  [[nodiscard]] bool has_index() const noexcept { return columns_.index != kNone; }
  [[nodiscard]] bool has_uuid() const noexcept { return columns_.uuid != kNone; }
  /// The column that names the GPUs; empty where there is none.
  [[nodiscard]] std::string_view id_column() const noexcept {
    return has_uuid() ? columns_.id_name : std::string_view(has_index() ? "index" : "");
  }
  [[nodiscard]] bool has_time() const noexcept { return columns_.timestamp != kNone; }
  /// False where the header names no column that has a figure.
  [[nodiscard]] bool has_figures() const noexcept { return has_figures_; }
  /// A header was there.
  [[nodiscard]] bool has_header() const noexcept { return has_header_; }

  /// Why `line`, which was read last, is no good row; in one line that can be printed.
  [[nodiscard]] std::string why_bad(std::string_view line) const;
  /// Remarks on the figures: units that were refused, where powers are from.
  [[nodiscard]] std::string note() const;

 private:
  static constexpr std::size_t kMostColumns = 64;
  static constexpr std::size_t kNone = kMostColumns;
  static constexpr std::array<std::string_view, 3> kPowers = {"power.draw", "power.draw.average",
                                                              "power.draw.instant"};
  struct GpuColumn {
    std::size_t place = kNone;
    CellUnit unit{};
  };
  struct GpuColumns {
    std::size_t count = 9;
    std::size_t timestamp = 0;
    GpuColumn util{1, {.quantity = CellQuantity::share}};
    GpuColumn mem_util{2, {.quantity = CellQuantity::share}};
    GpuColumn memory{3, {.quantity = CellQuantity::memory}};
    std::array<GpuColumn, 3> powers = {GpuColumn{5, {.quantity = CellQuantity::power}}, GpuColumn{},
                                       GpuColumn{}};
    std::size_t memory_total = 4;
    std::size_t temperature = 6;
    std::size_t name = kNone;
    std::size_t index = kNone;
    std::size_t uuid = kNone;
    std::size_t place = kNone;
    std::string_view id_name{};  ///< of `uuid`
  };
  using Cells = std::array<std::string_view, kMostColumns + 1>;  ///< after the last: empty

  /// Fills `cells_`; their number, at most one more than there is room for.
  std::size_t split(std::string_view line) noexcept;
  [[nodiscard]] Cell cell_of(const GpuColumn& column) const noexcept {
    return parse_cell(cells_[column.place], column.unit, has_room(column.place));
  }
  /// True if eight bytes that end with a cell are bytes of the line.
  [[nodiscard]] bool has_room(std::size_t place) const noexcept {
    const std::string_view cell = cells_[place];
    return cells_[0].data() + sizeof(std::uint64_t) <= cell.data() + cell.size() && place != kNone;
  }
  [[nodiscard]] Cell power() noexcept;
  /// The columns that show whose row it is.
  void add_evidence(GpuRow& row) const noexcept;
  [[nodiscard]] std::string why_bad_cell() const;

  GpuColumns columns_;
  Cells cells_;            ///< of the line that was read last
  std::size_t count_ = 0;  ///< of them
  TimeReader times_;
  bool has_header_ = false;
  bool has_figures_ = true;
  bool has_other_powers_ = false;
  std::array<std::uint64_t, kPowers.size()> power_rows_{};  ///< rows by the column of their power
  std::string refused_;                                     ///< columns whose unit is not known
};

}  // namespace wattle
