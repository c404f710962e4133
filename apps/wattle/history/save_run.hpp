// Saving runs in the history: whether they are, as the command line says, and how.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/text/cli11.hpp"
#include "report/report.hpp"
#include "runs/history/history.hpp"

namespace wattle::app {

struct SaveOptions {
  std::optional<bool> save{};  ///< absent: as the settings say
  Tags tags{};                 ///< of the saved runs
};

/// The options before they are checked.
struct RawSaveOptions {
  bool save = false;
  bool no_save = false;
  std::vector<std::string> tags;
};

/// Adds --save, --no-save and --tag. `what` is saved: "the run". `raw` outlives the parsing.
void add_save(CLI::App& command, RawSaveOptions& raw, const std::string& what);
/// A tag asks for saving, too. Throws `InvalidArgument`.
[[nodiscard]] SaveOptions checked_save(const RawSaveOptions& raw);

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
