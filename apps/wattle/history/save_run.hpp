// Saving runs in the history.
#pragma once

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "history/save_options.hpp"
#include "report/report.hpp"

namespace wattle::app {

/// Saves the runs of one command of `wattle`. Threads: one at a time.
class RunSaver {
 public:
  /// Asks git about the working directory; a git that does not end is added to `strangers`. Prints
  /// what is wrong with the settings, and why nothing is saved. `command`: for messages, "run".
  RunSaver(std::string command, const SaveOptions& options, std::set<pid_t>& strangers);

  /// False: nothing is to be saved.
  [[nodiscard]] bool is_wanted() const noexcept { return is_wanted_; }
  /// The record with its power over time, and what is known at the start: tags, directory, git.
  [[nodiscard]] SavedRun run_of(const Report& report) const;
  /// Prints what goes wrong, and never throws. Returns the IDs of the runs that are not lost.
  [[nodiscard]] std::vector<std::string> save(std::span<const SavedRun> runs) const noexcept;

 private:
  void prepare(const SaveOptions& options, std::set<pid_t>& strangers);

  std::string command_;
  bool is_wanted_ = false;
  std::filesystem::path history_;
  SavedRun common_;
};

}  // namespace wattle::app
