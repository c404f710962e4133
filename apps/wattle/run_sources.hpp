// Runs that a command line names: files of records, and IDs and queries of the history.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runs/history.hpp"
#include "runs/job_report.hpp"

namespace wattle::app {

/// Records, and what could not be read: one sentence each.
struct LoadedRuns {
  std::vector<NamedRecord> records{};
  std::vector<std::string> problems{};
};

/// True if a word names a file, not the ID of a saved run.
[[nodiscard]] bool is_file_name(const std::string& word);
/// The history of the settings. Throws `Error` if there is none.
[[nodiscard]] std::unique_ptr<RunHistory> open_saved_runs();

/// A word is a query of the history (history_query.hpp), a file if it exists or has a slash or a
/// dot, else the ID of a saved run. A file has one record, or one per line, as `run --json` and
/// `history export` write them;
/// "-" is stdin.
[[nodiscard]] LoadedRuns load_runs(const std::vector<std::string>& words);

}  // namespace wattle::app
