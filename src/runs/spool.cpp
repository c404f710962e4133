#include "runs/spool.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/file.hpp"
#include "base/state_folder.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "runs/history_file.hpp"
#include "runs/run_id.hpp"
#include "runs/saved_run_json.hpp"
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

/// The file is named for the run: who spools it twice has it once.
fs::path spool_into(const fs::path& folder, const SavedRun& run) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw WriteError(folder.string(), error.value());
  fs::path file = folder / (run_id_text(run_id_of(run.record)) + "-" + std::to_string(::getpid()) +
                            std::string(kSpoolExtension));
  const NewFile made = put_in_place(file.string(), saved_run_line(run) + "\n", kForOwner);
  if (!made.fd) throw WriteError(file.string(), made.error);
  return file;
}

/// True if it was saved.
bool take_in_file(RunHistory& history, const fs::path& file, std::vector<std::string>& problems) {
  const auto content = read_file(file.string(), kMostSpoolBytes);
  if (!content) {
    // Another process takes it in at the same time.
    if (errno != ENOENT) {
      problems.push_back(fmt::format("cannot read {}: {}", printable(file.string()),
                                     std::generic_category().message(errno)));
    }
    return false;
  }
  SavedRun run;
  try {
    run = parse_saved_run(*content, file.string());
  } catch (const FormatError& error) {
    problems.emplace_back(error.what());
    return false;
  }
  history.save(run);
  std::error_code error;
  fs::remove(file, error);
  return true;
}

void take_in_folder(RunHistory& history, const fs::path& folder, TakenIn& taken) {
  FolderListing listing = list_folder(folder.string());
  std::ranges::sort(listing.names);
  for (const std::string& name : listing.names) {
    // Others are still being written.
    if (name.starts_with('.') || !name.ends_with(kSpoolExtension)) continue;
    if (take_in_file(history, folder / name, taken.problems)) ++taken.runs;
  }
  std::error_code error;
  fs::remove(folder, error);  // where it is empty
}

}  // namespace

fs::path spool_run(const fs::path& history, const SavedRun& run) {
  try {
    return spool_into(beside(history), run);
  } catch (const WriteError& error) {
    try {
      return spool_into(in_state_folder(history), run);
    } catch (const Error&) {
      throw WriteError(error);
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

TakenIn take_in_spool(RunHistory& history) {
  TakenIn taken;
  take_in_folder(history, beside(history.path()), taken);
  try {
    take_in_folder(history, in_state_folder(history.path()), taken);
  } catch (const WriteError&) {
    throw;
  } catch (const Error&) {
    // There is no state folder, so nothing waits in it.
    (void)taken;
  }
  return taken;
}

SaveOutcome save_or_spool(const fs::path& history, const SavedRun& run,
                          std::chrono::milliseconds patience) {
  std::string problem;
  try {
    if (is_on_this_machine(history)) {
      RunHistory open(history, RunHistory::Missing::make, patience);
      std::string id = open.save(run);
      // What waited is safe, whatever fails here.
      try {
        for (const std::string& text : take_in_spool(open).problems) problem += text;
      } catch (const Error& error) {
        problem = error.what();
      }
      return {.id = std::move(id), .problem = std::move(problem)};
    }
  } catch (const Error& error) {
    problem = error.what();
  }
  try {
    const fs::path file = spool_run(history, run);
    if (!problem.empty()) {
      problem = fmt::format("{}; the run waits in {} and is saved later", problem,
                            printable(file.string()));
    }
    return {.id = run_id_text(run_id_of(run.record)), .problem = std::move(problem)};
  } catch (const std::exception& error) {
    return {.id = {},
            .problem = fmt::format("the run is not saved: {}{}{}", problem,
                                   problem.empty() ? "" : "; ", error.what())};
  }
}

}  // namespace wattle
