// Notes on a comparison: its subject, and what it cannot see.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runs/run_cost.hpp"

namespace wattle {

/// Sentences on what the claims of these comparisons are about, and what they cannot see: runs of
/// two kinds, kinds that so few runs may have none of, and a drift of the machine. `runs`: of both,
/// with their names.
[[nodiscard]] std::vector<std::string> notes_on_claims(
    std::span<const Comparison> comparisons,
    std::span<const std::pair<std::string, std::span<const RunCost>>> runs);

}  // namespace wattle
