// Runs that could not be saved: files that wait until the history can be written.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "runs/history.hpp"

namespace wattle {

/// Writes the run to a file of its own in `HISTORY.spool`, or, if that folder cannot be written, in
/// the folder `spool` of the state folder. Returns the file. Throws `WriteError` if neither works.
/// Threads: any.
std::filesystem::path spool_run(const std::filesystem::path& history, const SavedRun& run);

/// True if runs may wait for this history.
[[nodiscard]] bool has_spool(const std::filesystem::path& history);

/// What `take_in_spool` did.
struct TakenIn {
  std::size_t runs = 0;                 ///< that were saved
  std::vector<std::string> problems{};  ///< files that stay, one sentence for each
};
/// Saves what waits for this history. A file goes when its run is saved; one that is taken in twice
/// is saved once. Throws as `RunHistory::save`.
TakenIn take_in_spool(RunHistory& history);

/// What became of a run that is to be saved.
struct SaveOutcome {
  std::string id;         ///< also of a run that waits; empty: the run is lost
  std::string problem{};  ///< why it is not in the history, or another warning; else empty
};
/// Saves the run and what waits, or lets it wait. `patience`: how long other processes may keep the
/// history busy. Never throws for what files do.
[[nodiscard]] SaveOutcome save_or_spool(
    const std::filesystem::path& history, const SavedRun& run,
    std::chrono::milliseconds patience = std::chrono::seconds(2));

}  // namespace wattle
