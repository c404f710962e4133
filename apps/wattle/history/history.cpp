// `wattle history`: the saved runs.
#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

#include "base/files/input_file.hpp"
#include "base/text/line_reader.hpp"
#include "base/text/text.hpp"
#include "cli/answer.hpp"
#include "cli/settings.hpp"
#include "history/history_options.hpp"
#include "history/history_text.hpp"
#include "output/output.hpp"
#include "runs/history/saved_run_json.hpp"
#include "runs/history/spool.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr int kNoSuchRun = 1;

void complain(std::string_view text) { print_message("history", text); }

/// Names damaged runs. False: there are some.
bool is_whole(RunHistory& history) {
  const std::vector<std::string> damage = history.take_damage();
  for (const std::string& run : damage) complain(run);
  return damage.empty();
}

int list(RunHistory& history, const RunHistoryOptions& options) {
  constexpr std::size_t kShown = 20;
  HistoryFilter filter = options.filter;
  const bool is_for_people = !options.json && !options.csv;
  if (is_for_people && !filter.limit) filter.limit = kShown;
  const std::vector<RunSummary> runs = history.list(filter);
  std::size_t more = 0;
  if (is_for_people && !options.filter.limit && runs.size() == kShown) {
    more = history.count(filter) - runs.size();
  }
  Output::open("-", false)
      .write(options.json  ? list_json(runs)
             : options.csv ? list_csv(runs)
                           : list_text(runs, more, style_of(STDOUT_FILENO)));
  if (!is_whole(history)) return kNoSuchRun;
  return runs.empty() && is_for_people ? kNoSuchRun : 0;
}

int show(RunHistory& history, const RunHistoryOptions& options) {
  std::string text;
  for (const std::string& id : options.words) {
    const SavedRun run = history.get(id);
    if (!text.empty() && !options.json) text += "\n";
    text += options.json ? saved_run_line(run) + "\n" : run_text(run, style_of(STDOUT_FILENO));
  }
  Output::open("-", false).write(text);
  return is_whole(history) ? 0 : kNoSuchRun;
}

int export_all(RunHistory& history, const RunHistoryOptions& options) {
  if (options.csv) {
    Output::open("-", false).write(list_csv(history.list(options.filter)));
    return is_whole(history) ? 0 : kNoSuchRun;
  }
  // A history may be larger than the memory.
  const Fd out = open_stdout();
  history.each(options.filter, [&](const SavedRun& run) {
    const std::string line = safe_json(saved_run_line(run)) + "\n";
    if (const int error = write_all(out.get(), line); error != 0) throw WriteError("stdout", error);
  });
  return is_whole(history) ? 0 : kNoSuchRun;
}

/// Adds the runs of one file. Lines that are no run are named and left out; false if there is one.
bool import_file(RunHistory& history, const std::string& path) {
  InputFile input = open_input(path);
  if (!input.file) {
    complain(fmt::format("cannot read {}: {}", printable(path), input.problem));
    return false;
  }
  constexpr std::size_t kMostLineBytes = std::size_t{16} << 20U;
  constexpr std::size_t kAtOnce = 1000;
  constexpr std::size_t kMostComplaints = 5;
  LineReader lines(std::move(input.file), kMostLineBytes,
                   LineReader::LastLine::is_whole_without_end);
  std::vector<SavedRun> runs;
  std::size_t number = 0;
  std::size_t added = 0;
  std::size_t read = 0;
  std::size_t bad = 0;
  const auto save = [&] {
    added += history.save_all(runs).added;
    read += runs.size();
    runs.clear();
  };
  while (const auto line = lines.next()) {
    ++number;
    if (line->empty()) continue;
    try {
      runs.push_back(parse_saved_run(*line, fmt::format("{}, line {}", path, number)));
    } catch (const FormatError& error) {
      if (++bad <= kMostComplaints) complain(error.what());
    }
    if (runs.size() == kAtOnce) save();
  }
  save();
  if (lines.damaged() > 0) {
    bad += lines.damaged();
    complain(fmt::format("{}: a line is longer than 16 MiB", printable(path)));
  }
  if (lines.error() != 0) {
    complain(fmt::format("cannot read {}: {}", printable(path),
                         std::generic_category().message(lines.error())));
  }
  complain(fmt::format("{}: runs added: {}, there already: {}, lines that are no run: {}",
                       printable(path), added, read - added, bad));
  return bad == 0 && lines.error() == 0;
}

int import(RunHistory& history, const RunHistoryOptions& options) {
  bool is_whole = true;
  for (const std::string& path : options.words) is_whole = import_file(history, path) && is_whole;
  return is_whole ? 0 : kRunFailed;
}

int check(RunHistory& history) {
  const RunHistory::Check found = history.check();
  for (const std::string& run : found.damaged) complain(run);
  for (const std::string& run : found.doubtful) complain(run);
  for (const std::string& problem : found.problems) complain("SQLite reports: " + problem);
  const std::size_t whole = found.runs - found.repaired - found.damaged.size();
  Output::open("-", false)
      .write(fmt::format("{} checked: {} whole, {} repaired, {} damaged\n",
                         counted(found.runs, "run"), whole, found.repaired, found.damaged.size()));
  return found.damaged.empty() && found.doubtful.empty() ? 0 : kNoSuchRun;
}

int act(RunHistory& history, const RunHistoryOptions& options) {
  switch (options.action) {
    case HistoryAction::list:
      return list(history, options);
    case HistoryAction::show:
      return show(history, options);
    case HistoryAction::remove:
      history.remove(options.words);
      return 0;
    case HistoryAction::export_all:
      return export_all(history, options);
    case HistoryAction::import:
      return import(history, options);
    case HistoryAction::check:
      return check(history);
  }
  return kRunFailed;
}

/// Waiting runs appear in each list. A history that cannot be written can still be read; the reader
/// reports a damaged one.
void take_in(RunHistory& history) {
  try {
    const SpoolImport taken = import_spool(history);
    for (const std::string& problem : taken.problems) complain(problem);
    if (taken.runs > 0) complain(fmt::format("saved {} that waited", counted(taken.runs, "run")));
  } catch (const Error& error) {
    complain(fmt::format("runs wait to be saved: {}", error.what()));
  }
}

}  // namespace

int execute(const RunHistoryOptions& options) {
  const Settings settings = read_settings();
  for (const std::string& problem : settings.problems) complain("ignored: " + problem);
  try {
    const std::filesystem::path path = history_of(settings);
    const bool makes = options.action == HistoryAction::import || has_spool(path);
    RunHistory history(path, makes ? RunHistory::IfMissing::make : RunHistory::IfMissing::refuse);
    if (has_spool(path)) take_in(history);
    return act(history, options);
  } catch (const InvalidArgument& error) {
    complain(error.what());
    return kNoSuchRun;
  } catch (const Error& error) {
    complain(error.what());
    return kRunFailed;
  }
}

}  // namespace wattle::app
