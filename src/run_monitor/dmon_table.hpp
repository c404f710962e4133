// hw_dmon.csv: the table of `nvidia-smi dmon`.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "run_monitor/table_figures.hpp"

namespace wattle {

/// Takes words between blanks. Which column is what stands in the header ("# gpu  sm  mem ..."),
/// which is repeated as the table goes on: the columns depend on the options and the driver.
/// Without a header, four columns are gpu, sm, mem, fb. Threads: one at a time.
class DmonTable : public RowCounts {
 public:
  /// A line without its end.
  void take(std::string_view line);
  [[nodiscard]] GpuTable result() const;

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  static constexpr std::array<std::string_view, 5> kNames = {"gpu", "sm", "mem", "fb", "pwr"};
  struct Columns {
    std::size_t count = 4;
    std::array<std::size_t, kNames.size()> places = {0, 1, 2, 3, kNone};  ///< of each of `kNames`
  };
  struct Gpu {
    unsigned index = 0;
    GpuSpreads spreads;
  };

  void take_header(std::string_view names);
  [[nodiscard]] bool take_row(std::string_view line);
  /// Null where there are too many.
  [[nodiscard]] Gpu* gpu(unsigned index);

  Columns columns_;
  std::vector<Gpu> gpus_;
};

}  // namespace wattle
