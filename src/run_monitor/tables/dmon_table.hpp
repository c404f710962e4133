// hw_dmon.csv: the table of `nvidia-smi dmon`.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "run_monitor/tables/table_cell.hpp"
#include "run_monitor/tables/table_figures.hpp"

namespace wattle {

/// Takes words between blanks or, of `--format csv`, cells between commas. Which column is what
/// stands in the header ("# gpu  sm  mem ..."), which is repeated as the table goes on: the columns
/// depend on the options and the driver. The line of units below it counts, but MB is MiB there, as
/// nvidia-smi means it. Without a header, four words are gpu, sm, mem, fb. Threads: one at a time.
class DmonTable : public RowCounts {
 public:
  /// A line without its end.
  void take(std::string_view line);
  [[nodiscard]] GpuTable result() const;
  [[nodiscard]] bool has_header() const noexcept { return has_header_; }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  static constexpr std::array<std::string_view, 5> kNames = {"gpu", "sm", "mem", "fb", "pwr"};
  static constexpr std::array<CellUnit, kNames.size()> kUnits = {
      CellUnit{}, CellUnit{.quantity = CellQuantity::share},
      CellUnit{.quantity = CellQuantity::share}, CellUnit{.quantity = CellQuantity::memory},
      CellUnit{.quantity = CellQuantity::power}};
  struct DmonColumns {
    std::size_t count = 4;
    std::array<std::size_t, kNames.size()> places = {0, 1, 2, 3, kNone};  ///< of each of `kNames`
    std::array<CellUnit, kNames.size()> units = kUnits;
    bool has_commas = false;
  };
  struct DmonGpu {
    unsigned index = 0;
    GpuStatistics spreads;
  };

  void take_header(std::string_view names);
  void take_units(std::string_view units);
  [[nodiscard]] bool take_row(std::string_view line);
  [[nodiscard]] std::string reason_for(std::size_t count, const GpuRow& row) const;
  /// Null where there are too many.
  [[nodiscard]] DmonGpu* gpu(unsigned index);

  DmonColumns columns_;
  bool has_header_ = false;
  std::string refused_;  ///< a unit that is not known
  std::vector<DmonGpu> gpus_;
};

}  // namespace wattle
