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
  /// The machine of the last row; empty if there is no such column.
  [[nodiscard]] std::string_view host() const noexcept;
  [[nodiscard]] bool has_host() const noexcept { return columns_.host != kNone; }
  /// The last row has a UUID, which no two GPUs have.
  [[nodiscard]] bool is_unique() const noexcept { return is_by_uuid_ && !uuid().empty(); }
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
  /// Bytes of a line that are searched for commas at a time.
  static constexpr std::size_t kPartBytes = 64;
  /// The place of a cell that no line has: it is empty.
  static constexpr std::size_t kNone = kMostColumns + kPartBytes + 2;
  static constexpr std::array<std::string_view, 3> kPowers = {"power.draw", "power.draw.average",
                                                              "power.draw.instant"};
  struct GpuColumn {
    std::size_t place = kNone;
    CellUnit unit{};
    bool is_scaled = false;  ///< its unit is not that of the figures
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
    std::size_t host = kNone;
    std::string_view id_name{};  ///< of `uuid`
  };

  /// Finds the cells of a line. Their number is at most one more than `kMostColumns`.
  void split(std::string_view line) noexcept;
  [[nodiscard]] std::string_view cell(std::size_t place) const noexcept {
    const std::size_t begin = begins_[place];
    return {line_ + begin, begins_[place + 1] - 1 - begin};
  }
  /// See `plain_cell`.
  [[nodiscard, gnu::always_inline]] double plain(std::size_t place) const noexcept {
    const bool has_room = begins_[place + 1] > sizeof(std::uint64_t);
    return has_room ? plain_cell(cell(place)) : kNotPlain;
  }
  [[nodiscard, gnu::always_inline]] Cell cell_of(const GpuColumn& column) const noexcept {
    const double number = plain(column.place);
    if (number < 0.0) return parse_any_cell(cell(column.place), column.unit);
    return column.is_scaled ? cell_in(column.unit.factor, number) : Cell(number);
  }
  /// How many digits a plain number in a cell can have; 0 where `plain` finds none.
  [[nodiscard, gnu::always_inline]] std::size_t characters_in(std::size_t place) const noexcept {
    const std::size_t begin = begins_[place];
    const std::size_t end = begins_[place + 1] - 1;
    if (begin == end || end < sizeof(std::uint64_t)) return 0;
    return end - begin - (line_[begin] == ' ' ? 1 : 0);
  }
  /// Both numbers at once where they are whole. False for others, which `cell_of` may read.
  [[nodiscard, gnu::always_inline]] bool take_two(std::size_t one, std::size_t other,
                                                  std::array<double, 2>& numbers) const noexcept {
#ifdef __SSE2__
    const std::array digits = {characters_in(one), characters_in(other)};
    const bool are_long = ((digits[0] - 1) | (digits[1] - 1)) >= sizeof(std::uint64_t);
    if (are_long || are_scaled_) return false;
    const std::array ends = {line_ + begins_[one + 1] - 1, line_ + begins_[other + 1] - 1};
    return take_two_whole(ends, digits, numbers);
#else
    (void)one, (void)other, (void)numbers;
    return false;
#endif
  }
  [[nodiscard, gnu::always_inline]] Cell evidence_in(std::size_t place) const noexcept {
    const double number = plain(place);
    return number < 0.0 ? parse_any_cell(cell(place)) : Cell(number);
  }
  void take_columns(const GpuColumns& found);
  [[nodiscard]] Cell power() noexcept;
  /// A hash of the GPU's name.
  [[nodiscard]] std::uint32_t model() const noexcept;
  [[nodiscard]] std::string why_bad_cell() const;

  GpuColumns columns_;
  const char* line_ = nullptr;  ///< that was read last
  /// The first byte of each of its cells, and the byte after the line's end, as if it were a
  /// comma, plus 1; then unused places, and an empty cell.
  std::array<std::size_t, kNone + 2> begins_{};
  std::size_t count_ = 0;  ///< of its cells
  TimeReader times_;
  bool has_header_ = false;
  bool has_figures_ = true;
  bool are_scaled_ = false;  ///< the shares, or the memory
  bool has_other_powers_ = false;
  bool is_by_uuid_ = false;
  std::array<std::uint64_t, kPowers.size()> power_rows_{};  ///< rows by the column of their power
  std::string refused_;                                     ///< columns whose unit is not known
};

}  // namespace wattle
