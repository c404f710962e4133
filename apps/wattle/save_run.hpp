// Saving a run in the history.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "options.hpp"
#include "runs/history.hpp"

namespace wattle::app {

/// A run that is to be saved when it has ended: what is known at its start.
struct RunToSave {
  std::filesystem::path history;
  SavedRun run;
};

/// Absent if the run is not to be saved. Asks git about the working directory; a git that does not
/// end is added to `strangers`. Prints what is wrong with the settings.
[[nodiscard]] std::optional<RunToSave> prepare_saving(const RunOptions& options,
                                                      std::set<pid_t>& strangers);

/// Saves it with its record and its power over time. Prints the ID unless `quiet`, and what went
/// wrong.
void save_run(RunToSave& to_save, const Report& report, bool quiet);

}  // namespace wattle::app
