// What holds for the figures of any table of GPUs.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/text/split.hpp"
#include "check.hpp"
#include "run_monitor/tables/table_figures.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle::fuzz {

inline void require_figures(const GpuFigures& figures) {
  const auto require_spread = [](std::optional<double> mean, std::optional<double> max) {
    require(mean.has_value() == max.has_value(), "there are both or none");
    // The sum of many numbers is rounded.
    if (mean) require(*mean >= 0.0 && *mean <= *max * (1.0 + 1e-9), "a mean is between");
  };
  require_spread(figures.gpu_util_mean_pct, figures.gpu_util_max_pct);
  require_spread(figures.mem_util_mean_pct, figures.mem_util_max_pct);
  require_spread(figures.power_watts_mean, figures.power_watts_max);
  require(figures.energy_unknown >= Seconds(0), "a length is not negative");
  if (figures.energy) require(figures.energy->si() >= 0.0, "nor is an energy");
}

/// Reads `text` line by line into a `Table`, and checks what it says.
template <class Table>
void require_table(std::string_view text) {
  Table table;
  std::size_t lines = 0;
  while (!text.empty()) {
    table.take(take_line(text));
    ++lines;
  }
  table.end();
  require(table.rows() + table.bad_rows() <= lines, "a line is one row at most");
  const GpuTable result = table.result();
  require(result.gpus.size() <= kMostGpus, "no file takes more memory than that");
  require_figures(result.all);
  for (const GpuSummary& gpu : result.gpus) require_figures(gpu);
}

}  // namespace wattle::fuzz
