#include "runs/claim_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text/text.hpp"

namespace wattle {
namespace {

/// Fewer runs that did not take turns do not always show a drift of 2 % a run.
constexpr std::size_t kFewestForDrift = 10;

/// Which commands have runs of two kinds, and what a typical run differs by where one of two has.
std::vector<std::string> notes_on_shapes(
    Cost cost, std::span<const std::pair<std::string, std::span<const RunCost>>> runs) {
  std::vector<std::string> notes;
  for (const auto& [name, of] : runs) {
    const auto kinds = two_kinds_of(values_of(cost, of));
    if (!kinds) continue;
    notes.push_back(fmt::format(
        "{}: {} of about {} in {} and of about {} in {}: what is claimed is the mean of this mix",
        name, name_of(cost), text_of(cost, kinds->low), counted(kinds->low_count, "run"),
        text_of(cost, kinds->high), kinds->high_count));
  }
  if (notes.size() != 1 || runs.size() != 2) return notes;
  const auto& [name_a, of_a] = runs[0];
  const auto& [name_b, of_b] = runs[1];
  const LogRatio medians{
      .estimate = std::log(median_of(values_of(cost, of_b)) / median_of(values_of(cost, of_a)))};
  notes.push_back(
      fmt::format("the runs of {} and {} are spread differently: the claim about {} is "
                  "about their means; their medians differ by {}",
                  name_a, name_b, name_of(cost), change_text(medians)));
  return notes;
}

}  // namespace

std::vector<std::string> notes_on_claims(
    std::span<const Comparison> comparisons,
    std::span<const std::pair<std::string, std::span<const RunCost>>> runs) {
  std::vector<std::string> notes;
  std::size_t fewest = 0;
  std::size_t fewest_apart = 0;  // without turns
  const auto note_fewest = [](std::size_t& least, std::size_t count) {
    least = least == 0 ? count : std::min(least, count);
  };
  for (const Comparison& comparison : comparisons) {
    if (!comparison.ratio || !comparison.ratio->interval) continue;
    if (std::ranges::count(kCostsInSentences, comparison.cost) == 0) continue;
    note_fewest(fewest, comparison.ratio->runs);
    if (!comparison.is_paired) note_fewest(fewest_apart, comparison.ratio->runs);
    for (std::string& note : notes_on_shapes(comparison.cost, runs)) {
      if (std::ranges::count(notes, note) == 0) notes.push_back(std::move(note));
    }
  }
  if (fewest_apart > 0 && fewest_apart < kFewestForDrift) {
    notes.push_back(fmt::format(
        "{} runs of each that did not take turns can miss a drift of the machine, which "
        "is then in the difference; let the commands take turns: wattle bench",
        fewest_apart));
  }
  constexpr std::size_t kMany = 30;
  if (fewest > 0 && fewest < kMany) {
    notes.push_back(
        fmt::format("{} runs of each can miss a kind of run that is rarer than {:.0f} %, such as a "
                    "slow one now and then",
                    fewest, 100.0 * unseen_part(fewest)));
  }
  return notes;
}

}  // namespace wattle
