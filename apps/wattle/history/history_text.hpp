// Saved runs as people and other programs read them.
#pragma once

#include <string>
#include <vector>

#include "base/text/text_style.hpp"
#include "runs/history/history.hpp"

namespace wattle::app {

/// One row per run. `more`: runs that are not shown.
[[nodiscard]] std::string list_text(const std::vector<RunSummary>& runs, std::size_t more,
                                    const TextStyle& style);
/// `wattle.history/1`, one line with its end.
[[nodiscard]] std::string list_json(const std::vector<RunSummary>& runs);
/// A row of names, then one per run.
[[nodiscard]] std::string list_csv(const std::vector<RunSummary>& runs);
/// Everything about one run.
[[nodiscard]] std::string run_text(const SavedRun& saved, const TextStyle& style);

}  // namespace wattle::app
