// hw_metrics.csv: rows of `nvidia-smi --query-gpu`.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/held_power.hpp"
#include "hardware/table_figures.hpp"

namespace wattle {

/// "2026/11/21 01:50:09.123" as milliseconds since 1970, in whatever zone it is; absent for any
/// other text. Remembers the minute: most times are of the same one as the time before.
class TableTime {
 public:
  [[nodiscard]] std::optional<std::int64_t> parse(std::string_view text) noexcept;

 private:
  static constexpr std::size_t kMinuteLength = 17;  // "2026/11/21 01:50:"
  std::array<char, kMinuteLength> minute_{};
  std::int64_t minute_ms_ = 0;
};

/// Takes cells between commas. Without a header the nine columns of the run monitor: timestamp,
/// utilization.gpu, utilization.memory, memory.used, memory.total, power.draw, temperature.gpu and
/// two clocks; a header names others. GPUs are told apart by a column index or uuid, else by their
/// place among the rows of one time. Threads: one at a time.
class GpuCsv {
 public:
  /// A line without its end.
  void take(std::string_view line);
  /// A line was there that could not be given.
  void take_damaged() noexcept;

  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::uint64_t bad_rows() const noexcept { return bad_rows_; }
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
  using Cells = std::array<std::string_view, kMostColumns + 1>;  ///< behind the last: empty
  struct Gpu {
    std::string name;
    GpuSpreads spreads;
    HeldPower power;
  };

  /// Fills `cells_`; their number, at most one more than there is room for.
  std::size_t split(std::string_view line) noexcept;
  [[nodiscard]] bool take_header(std::string_view line);
  [[nodiscard]] bool take_row(std::string_view line);
  /// Null where there are too many.
  [[nodiscard]] Gpu* gpu();
  [[nodiscard]] Gpu* gpu_named(std::string_view name);
  /// A row of this time comes, `whole` or torn: after that nobody knows which rows of this moment
  /// are missing, nor of the next, whose first one the torn row may have been.
  void move_on(std::optional<std::int64_t> time_ms, bool whole) noexcept;
  void watch_gap(std::int64_t gap_ms) noexcept;
  [[nodiscard]] bool has_names() const noexcept {
    return columns_.index != kNone || columns_.uuid != kNone;
  }
  /// Whether rows come in bursts whose times differ a little: the place among rows of one time then
  /// tells nothing.
  [[nodiscard]] bool comes_in_bursts() const noexcept { return short_gaps_ * 4 > gaps_; }

  Columns columns_;
  Cells cells_;  ///< of the line that is looked at
  TableTime time_;
  std::vector<Gpu> gpus_;
  std::optional<std::int64_t> last_ms_;
  std::size_t place_ = 0;     ///< among the rows of `last_ms_`
  int doubtful_moments_ = 0;  ///< this one, and the one behind it, of which places are not known
  std::uint64_t gaps_ = 0;
  std::uint64_t short_gaps_ = 0;
  std::int64_t gaps_ms_ = 0;
  bool by_place_ = false;    ///< some rows were
  bool lacks_time_ = false;  ///< and had no time
  std::uint64_t rows_ = 0;
  std::uint64_t bad_rows_ = 0;
};

}  // namespace wattle
