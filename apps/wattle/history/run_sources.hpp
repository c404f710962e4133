// Runs that a command line names: files of records, and IDs and queries of the history.
#pragma once

#include <string>
#include <vector>

#include "runs/history/history.hpp"
#include "runs/job_report.hpp"

namespace wattle::app {

/// Records, and what could not be read: one sentence each.
struct LoadedRuns {
  std::vector<NamedRecord> records{};
  std::vector<std::string> problems{};
};

/// True if a word names a file, not the ID of a saved run.
[[nodiscard]] bool is_file_name(const std::string& word);
/// The content of such a file; "-" is stdin. Throws `Error` if it cannot be read.
[[nodiscard]] std::string content_of_file(const std::string& path);

/// A word is a query of the history (`parse_history_query`), a file if it exists or has a slash or
/// a dot, else the ID of a saved run. A file has one record, or one per line, as `run --json` and
/// `history export` write them;
/// "-" is stdin.
[[nodiscard]] LoadedRuns load_runs(const std::vector<std::string>& words);

}  // namespace wattle::app
