// The results of a benchmark, in words: the same in a terminal and in a browser.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "runs/bench/bench_record.hpp"

namespace wattle {

/// The titles of the columns of `cost_cells`.
inline constexpr std::array<const char*, 6> kCostTitles = {
    "", "mean", "± sd", "median", "min .. max", "95 % of the mean"};
/// A cost of the runs, starting with its name; no cells where it is not known.
[[nodiscard]] std::vector<std::string> cost_cells(Cost cost, const std::vector<RunCost>& runs);
/// "49.91 J to 50.09 J", the 95 % interval of the mean; "-" where there is none.
[[nodiscard]] std::string mean95_text(Cost cost, const Summary& summary);

/// Kinds of energy that are in no total, and why: sentences.
[[nodiscard]] std::vector<std::string> missing_energy(const BenchRecord& bench);

/// Lines about the mean of its runs; empty where nothing is estimated. Never measured.
[[nodiscard]] std::vector<std::string> estimate_words(const BenchCommand& command);

/// A command compared with the reference.
struct ReferenceComparison {
  const BenchCommand* command;
  Comparison comparison;  ///< has a ratio
  std::string sentence;
};
/// These costs of each command, if known. Empty without a second command.
[[nodiscard]] std::vector<ReferenceComparison> comparisons_with_reference(
    const BenchRecord& bench, std::span<const Cost> costs = kCostsInSentences);
/// Sentences: the scope of these claims, and their limits.
[[nodiscard]] std::vector<std::string> notes_on_claims(
    const BenchRecord& bench, const std::vector<ReferenceComparison>& found);

}  // namespace wattle
