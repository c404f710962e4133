// Plots of what runs cost: of each run, and over a scanned parameter.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "report/html/page.hpp"
#include "runs/bench/bench_record.hpp"
#include "runs/run_cost.hpp"

namespace wattle::html {

/// The axis of a plot whose highest value is `highest`.
struct CostUnit {
  const char* name;
  double factor;  ///< from the unit of `key_of`
};
[[nodiscard]] CostUnit unit_for(Cost cost, double highest) noexcept;

struct NamedRuns {
  std::string name;
  std::span<const RunCost> runs;
};
/// Each run, and the mean with its 95 % interval. Absent where the cost of no run is known.
[[nodiscard]] std::optional<DotPlot> runs_plot(Cost cost, const std::vector<NamedRuns>& all);
/// Adds the same for every cost that is known, with a note on how to read them.
void add_runs_plots(Page& page, const std::vector<NamedRuns>& all);

struct NamedRatio {
  std::string name;
  LogRatio ratio;
};
/// Changes in percent, with their intervals, and where there is none. `all`: at least one.
[[nodiscard]] DotPlot change_plot(std::string name, const std::vector<NamedRatio>& all);
/// How to read such plots.
[[nodiscard]] Note change_legend();

/// Values of runs in their order, at most about `most`: of each group of neighbours the lowest and
/// the highest.
[[nodiscard]] std::vector<double> thinned(const std::vector<double>& values, std::size_t most);

/// Adds the single runs, as a table that is folded up. Past `most` rows there is a note in place of
/// the others.
void add_runs_table(Page& page, const NamedRuns& runs, std::size_t most);

/// The mean energy, or the time where the energy of a command is unknown, over the first parameter
/// whose values are numbers, at least three of them; a curve for each combination of the others.
/// Absent where there is no such parameter, or there are too many curves to distinguish.
[[nodiscard]] std::optional<CurvePlot> scan_plot(const BenchRecord& bench);

}  // namespace wattle::html
