// Runs that could not be saved: files that wait until the history can be written.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "runs/history/history.hpp"

namespace wattle {

/// Writes the run to a file of its own in `HISTORY.spool`, or, if that folder cannot be written, is
/// not the user's own, or the history is no regular file, in the folder `spool` of the state
/// folder. Returns the file. Throws `Error` if neither works. Threads: any.
std::filesystem::path spool_run(const std::filesystem::path& history, const SavedRun& run);

/// True if runs may wait for this history.
[[nodiscard]] bool has_spool(const std::filesystem::path& history);

/// The result of `import_spool`.
struct SpoolImport {
  std::size_t runs = 0;                 ///< that were saved
  std::vector<std::string> problems{};  ///< files that stay, one sentence for each
};
/// Saves what waits for this history, many runs in one transaction. A file goes when its run is
/// saved; one that is taken in twice is saved once. A folder that others own or may write to is
/// left alone, with a problem. Throws as `RunHistory::save`.
SpoolImport import_spool(RunHistory& history);

/// The result of saving runs.
struct SaveOutcome {
  std::vector<std::string> ids{};  ///< in the order of the runs; a lost run, and those after, lack
  std::string problem{};     ///< why they are not in the history, or another warning; else empty
  std::size_t taken_in = 0;  ///< runs that waited and are saved now
};
/// Saves the runs and what waits, or lets them wait. `patience`: how long other processes may keep
/// the history busy. Whatever goes wrong with a history is the problem of the outcome: it throws
/// nothing for it.
[[nodiscard]] SaveOutcome save_or_spool(
    const std::filesystem::path& history, std::span<const SavedRun> runs,
    std::chrono::milliseconds patience = std::chrono::seconds(2));

}  // namespace wattle
