#include "runs/history/spool.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <optional>
#include <system_error>
#include <utility>

#include "base/failure.hpp"
#include "base/files/fd.hpp"
#include "base/files/file.hpp"
#include "base/files/state_folder.hpp"
#include "base/files/whole_file.hpp"
#include "base/text/text.hpp"
#include "runs/history/history_file.hpp"
#include "runs/history/saved_run_json.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSpoolExtension = ".jsonl";
/// No run takes more; what is larger is none.
constexpr std::size_t kMostSpoolBytes = std::size_t{64} << 20U;

fs::path whole_path(const fs::path& path) {
  std::error_code error;
  fs::path whole = fs::absolute(path, error);
  return error ? path : whole.lexically_normal();
}

fs::path beside(const fs::path& history) {
  fs::path folder = whole_path(history);
  folder += ".spool";
  return folder;
}

/// One folder for each history.
fs::path in_state_folder(const fs::path& history) {
  return state_folder() / "spool" / run_id_text(run_id_of(whole_path(history).string()));
}

/// To the disk: the content of the file, and its name where the file system has that.
void force_to_disk(const Fd& file, const fs::path& folder) {
  if (::fdatasync(file.get()) != 0) throw WriteError(folder.string(), errno);
  const Fd names = open_for_reading(folder.string());
  if (names) (void)::fsync(names.get());
}

/// The file is named for the run: who spools it twice has it once.
fs::path spool_into(const fs::path& folder, const SavedRun& run) {
  std::error_code error;
  const bool is_new = fs::create_directories(folder, error);
  if (error) throw WriteError(folder.string(), error.value());
  if (is_new) fs::permissions(folder, fs::perms::owner_all, error);
  if (const std::string why = why_not_own(folder); !why.empty()) throw Error(why);
  fs::path file = folder / (run_id_text(run_id_of(run.record)) + "-" + std::to_string(::getpid()) +
                            std::string(kSpoolExtension));
  const NewFile made = put_in_place(file.string(), saved_run_line(run) + "\n", kModeForOwner);
  if (!made.fd) throw WriteError(file.string(), made.error);
  force_to_disk(made.fd, folder);
  return file;
}

/// A run that waits, and its file.
struct Waiting {
  fs::path file;
  SavedRun run;
};

/// Absent: it is not there any more, or what is wrong with it is a problem.
std::optional<Waiting> read_waiting(const fs::path& file, std::vector<std::string>& problems) {
  const auto content = read_file(file.string(), kMostSpoolBytes);
  if (!content) {
    // Another process takes it in at the same time.
    if (errno != ENOENT) {
      problems.push_back(fmt::format("cannot read {}: {}", printable(file.string()),
                                     std::generic_category().message(errno)));
    }
    return std::nullopt;
  }
  try {
    return Waiting{file, parse_saved_run(*content, file.string())};
  } catch (const FormatError& error) {
    problems.emplace_back(error.what());
    return std::nullopt;
  }
}

/// Saves them in one transaction, and then removes their files.
void take_in(RunHistory& history, std::vector<Waiting>& waiting, SpoolImport& taken) {
  std::vector<SavedRun> runs;
  runs.reserve(waiting.size());
  for (Waiting& one : waiting) runs.push_back(std::move(one.run));
  history.save_all(runs);
  for (const Waiting& one : waiting) {
    std::error_code error;
    fs::remove(one.file, error);
  }
  taken.runs += waiting.size();
  waiting.clear();
}

void import_folder(RunHistory& history, const fs::path& folder, SpoolImport& taken) {
  constexpr std::size_t kAtOnce = 1000;
  const auto [names, error_number] = list_folder(folder.string());
  if (error_number != 0 && error_number != ENOENT && error_number != ENOTDIR) {
    taken.problems.push_back(fmt::format("cannot read all of {}: {}", printable(folder.string()),
                                         std::generic_category().message(error_number)));
  }
  if (names.empty()) return;
  if (const std::string why = why_not_own(folder); !why.empty()) {
    taken.problems.push_back(fmt::format("runs that wait are not saved: {}", why));
    return;
  }
  std::vector<Waiting> waiting;
  for (const std::string& name : names) {
    // Others are still being written.
    if (name.starts_with('.') || !name.ends_with(kSpoolExtension)) continue;
    if (auto one = read_waiting(folder / name, taken.problems)) waiting.push_back(*std::move(one));
    if (waiting.size() == kAtOnce) take_in(history, waiting, taken);
  }
  if (!waiting.empty()) take_in(history, waiting, taken);
  std::error_code error;
  fs::remove(folder, error);  // where it is empty
}

/// "the run is", "3 of 5 runs are".
std::string not_saved_text(std::size_t all, std::size_t saved) {
  return all == 1 ? "the run is" : fmt::format("{} of {} runs are", all - saved, all);
}

/// Lets the runs wait. `cause`: why they are not saved now; empty: as it should be.
SaveOutcome spooled(const fs::path& history, std::span<const SavedRun> runs, std::string cause) {
  SaveOutcome outcome{.problem = std::move(cause)};
  fs::path file;
  try {
    for (const SavedRun& run : runs) {
      file = spool_run(history, run);
      outcome.ids.push_back(run_id_text(run_id_of(run.record)));
    }
    if (outcome.problem.empty()) return outcome;
    const bool is_one = runs.size() == 1;
    outcome.problem += fmt::format(
        "; the run{} in {} and {} saved later", is_one ? " waits" : "s wait",
        printable((is_one ? file : file.parent_path()).string()), is_one ? "is" : "are");
  } catch (const std::exception& error) {
    outcome.problem =
        fmt::format("{} not saved: {}{}{}", not_saved_text(runs.size(), outcome.ids.size()),
                    outcome.problem, outcome.problem.empty() ? "" : "; ", failure_text(error));
  }
  return outcome;
}

}  // namespace

fs::path spool_run(const fs::path& history, const SavedRun& run) {
  std::error_code error;
  // "/dev/null.spool" is nobody's folder.
  const bool is_device = fs::exists(history, error) && !fs::is_regular_file(history, error);
  if (is_device) return spool_into(in_state_folder(history), run);
  try {
    return spool_into(beside(history), run);
  } catch (const Error&) {
    const std::exception_ptr first = std::current_exception();
    try {
      return spool_into(in_state_folder(history), run);
    } catch (const Error&) {
      std::rethrow_exception(first);
    }
  }
}

bool has_spool(const fs::path& history) {
  std::error_code error;
  if (fs::exists(beside(history), error)) return true;
  try {
    return fs::exists(in_state_folder(history), error);
  } catch (const Error&) {
    return false;
  }
}

SpoolImport import_spool(RunHistory& history) {
  SpoolImport taken;
  import_folder(history, beside(history.path()), taken);
  try {
    import_folder(history, in_state_folder(history.path()), taken);
  } catch (const WriteError&) {
    throw;
  } catch (const Error&) {
    // There is no state folder, so nothing waits in it.
    (void)taken;
  }
  return taken;
}

SaveOutcome save_or_spool(const fs::path& history, std::span<const SavedRun> runs,
                          std::chrono::milliseconds patience) {
  SaveOutcome outcome;
  try {
    if (is_on_this_machine(history)) {
      RunHistory open(history, RunHistory::IfMissing::make, patience);
      outcome.ids = open.save_all(runs).ids;
      // The waiting runs are safe, whatever fails here.
      try {
        const SpoolImport taken = import_spool(open);
        outcome.taken_in = taken.runs;
        outcome.problem = fmt::format("{}", fmt::join(taken.problems, "; "));
      } catch (const std::exception& error) {
        outcome.problem = failure_text(error);
      }
      return outcome;
    }
  } catch (const std::exception& error) {
    outcome.problem = failure_text(error);
  }
  outcome.ids.clear();
  return spooled(history, runs, std::move(outcome.problem));
}

}  // namespace wattle
