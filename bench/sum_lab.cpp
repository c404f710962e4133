// Sums of runs and of boards beside their true energies.
//
//   sum_lab [RUNS [TRIALS]]      a table in Markdown, of 1, 10 ... up to RUNS runs (1000), from so
//   many
//                                trials a cell (200); fixed seeds: the same at every run
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/text/parse.hpp"
#include "lab/sum_world.hpp"

namespace {

using wattle::lab::SumCell;
using wattle::lab::SumResult;

void print_row(const SumCell& cell, const SumResult& result) {
  constexpr double kNothing = 1e-9;
  const bool has_width = result.p95_of_raw > kNothing;
  fmt::print("| {} | {:.1f} | {:.2f} | {:.2f} | {} | {:.2f} | {:.2f} | {} |\n", cell.name(),
             100.0 * result.coverage, 100.0 * result.median_half_width, 100.0 * result.p95_of_raw,
             has_width ? fmt::format("{:.1f}", result.width()) : "-", 100.0 * result.mean_error,
             100.0 * result.mean_error_of_raw, cell.limit());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const auto number = [&](std::size_t place, std::size_t otherwise) {
      if (place >= words.size()) return otherwise;
      return wattle::parse_unsigned<std::size_t>(words[place]).value_or(otherwise);
    };
    constexpr std::size_t kRuns = 1000;
    constexpr std::size_t kTrials = 200;
    fmt::print(
        "| sum | holds the truth | ± | p95 of what sensors show | times as wide | mean error | "
        "of what sensors show | not promised: |\n|---|---|---|---|---|---|---|---|\n");
    for (const SumCell& cell : wattle::lab::sum_cells(number(0, kRuns))) {
      print_row(cell, simulate_sums(cell, number(1, kTrials), 1));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sum_lab: %s\n", error.what());
    return 1;
  }
  return 0;
}
