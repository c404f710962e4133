// Sums of runs and of boards beside their true energies.
//
//   sum_lab [RUNS [TRIALS [PART]]]   a table in Markdown, of 1, 10 ... up to RUNS runs (1000), from
//                                TRIALS trials per cell (200); fixed seeds: the same at every run;
//                                with PART only cells whose name has it
//   sum_lab boards [TRIALS]      of that, sums of 64 boards
//   sum_lab compared [TRIALS]    two commands on one machine, 100 runs of each
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "lab/sum_world.hpp"
#include "lab/trials_argument.hpp"

namespace {

using wattle::lab::SumCell;
using wattle::lab::SumResult;

void print_row(const SumCell& cell, const SumResult& result) {
  constexpr double kNothing = 1e-9;
  const bool has_width = result.p95_of_raw > kNothing;
  fmt::print("| {} | {:.1f} | {:.2f} | {:.2f} | {} | {:.2f} | {:.2f} | {:.1f} | {:.1f} | {} |\n",
             cell.name(), 100.0 * result.coverage, 100.0 * result.median_half_width,
             100.0 * result.p95_of_raw, has_width ? fmt::format("{:.1f}", result.width()) : "-",
             100.0 * result.mean_error, 100.0 * result.mean_error_of_raw, 100.0 * result.in_step,
             100.0 * result.unseen, cell.limit());
}

/// 100 runs of steps of each of two commands, which take turns.
void print_comparisons(std::size_t trials) {
  fmt::print("| two commands | holds the truth | ± | that comes back |\n|---|---|---|---|\n");
  for (SumCell a : wattle::lab::sum_cells(1)) {
    if (a.kind != "steps" || a.boards != 1 || a.is_followed || a.is_in_step) continue;
    a.runs = 100;
    for (const double times : {1.0, 2.0}) {
      SumCell b = a;
      b.window_s *= times;
      const auto found = wattle::lab::simulate_comparisons(a, b, trials, 1);
      fmt::print("| {}, {} | {:.1f} | {:.2f} | {:.2f} |\n", a.name(),
                 times > 1.0 ? "one twice as long" : "equally long", 100.0 * found.coverage,
                 100.0 * found.median_half_width, 100.0 * found.median_common);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const bool is_of_boards = !words.empty() && words[0] == "boards";
    const bool is_compared = !words.empty() && words[0] == "compared";
    const std::size_t trials = wattle::lab::trials_argument(words, 1, 200);
    if (is_compared) {
      print_comparisons(trials);
      return 0;
    }
    const std::size_t runs = is_of_boards ? 1 : wattle::lab::trials_argument(words, 0, 1000);
    fmt::print(
        "| sum | holds the truth | ± | p95 of what sensors show | times as wide | mean error | "
        "of what sensors show | in_step | ends_unseen | not promised: "
        "|\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (const SumCell& cell : wattle::lab::sum_cells(runs)) {
      if (is_of_boards && cell.boards == 1) continue;
      if (words.size() > 2 && cell.name().find(words[2]) == std::string::npos) continue;
      print_row(cell, simulate_sums(cell, trials, 1));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sum_lab: %s\n", error.what());
    return 1;
  }
  return 0;
}
