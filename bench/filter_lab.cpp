// Averages of power whose filter nobody knows, beside the true energies.
//
//   filter_lab [TRIALS [all]]    a table in Markdown from so many trials a cell (200): for each
//                                filter and load the cells together, or each cell; fixed seeds: the
//                                same at every run. Exit status 1 where a cell that is not limited
//                                holds the truth in less than 95 % of its trials, or an average is
//                                believed beside another sensor; 2 for wrong arguments
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "lab/filter_world.hpp"
#include "lab/trials_argument.hpp"

namespace {

using wattle::lab::Beside;
using wattle::lab::FilterCell;
using wattle::lab::FilterResult;

/// Cells of one load, and what came of them.
struct Group {
  int cells = 0;
  int limited = 0;
  double least = 1.0;
  double least_of_limited = 1.0;
  double half_width = 0.0;
  double error = 0.0;
  double disagrees = 0.0;

  void add(const FilterCell& cell, const FilterResult& result) {
    ++cells;
    double& lowest = cell.limit().empty() ? least : least_of_limited;
    lowest = std::min(lowest, result.coverage);
    limited += cell.limit().empty() ? 0 : 1;
    half_width += result.median_half_width;
    error = std::max(error, result.p95);
    disagrees = std::max(disagrees, result.disagrees);
  }
};

void print_cell(const FilterCell& cell, const FilterResult& result) {
  fmt::print("| {} | {:.1f} | {:.2f} | {:.2f} | {:.0f} | {} |\n", cell.name(),
             100.0 * result.coverage, 100.0 * result.median_half_width, 100.0 * result.p95,
             100.0 * result.disagrees, cell.limit());
}

void print_groups(const std::map<std::string, Group>& groups) {
  fmt::print(
      "| load, window | cells | hold the truth | mean ± | largest p95 | limited | hold the truth | "
      "`disagrees` |\n|---|---|---|---|---|---|---|---|\n");
  for (const auto& [name, group] : groups) {
    fmt::print("| {} | {} | {:.1f} % | {:.1f} % | {:.1f} % | {} | {} | {:.0f} % |\n", name,
               group.cells, 100.0 * group.least, 100.0 * group.half_width / group.cells,
               100.0 * group.error, group.limited,
               group.limited > 0 ? fmt::format("{:.0f} %", 100.0 * group.least_of_limited) : "",
               100.0 * group.disagrees);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    constexpr std::size_t kTrials = 200;
    const std::size_t trials = wattle::lab::trials_argument(words, 0, kTrials);
    const bool prints_all = words.size() > 1;
    if (words.size() > 2 || (prints_all && words[1] != "all")) {
      throw std::invalid_argument("the arguments are [TRIALS [all]]");
    }
    if (prints_all) {
      fmt::print(
          "| average | holds the truth | ± | p95 | `disagrees` | limited "
          "|\n|---|---|---|---|---|---|\n");
    }
    std::map<std::string, Group> groups;
    bool is_met = true;
    for (const FilterCell& cell : wattle::lab::filter_cells()) {
      const FilterResult result = simulate_filter(cell, trials, 1);
      if (prints_all) print_cell(cell, result);
      const char* beside = cell.beside == Beside::counter   ? "with a counter: "
                           : cell.beside == Beside::instant ? "with an instant gauge: "
                                                            : "";
      groups[fmt::format("{}{}, {:g} s", beside, cell.load, cell.window_s)].add(cell, result);
      constexpr double kLeast = 0.95;
      const bool is_covered = result.coverage >= kLeast || !cell.limit().empty();
      const bool is_preferred = cell.beside != Beside::nothing && result.believed > 0.0;
      is_met = is_met && is_covered && !is_preferred;
    }
    if (!prints_all) print_groups(groups);
    return is_met ? 0 : 1;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "filter_lab: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "filter_lab: %s\n", error.what());
    return 1;
  }
}
