#include "history/run_sources.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "base/anchor.hpp"
#include "base/clock.hpp"
#include "base/files/input_file.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "cli/settings.hpp"
#include "history/history_options.hpp"
#include "runs/history/saved_run_json.hpp"
#include "runs/record_text.hpp"
#include "runs/run_record.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

NamedRecord named_record(RecordText text) {
  std::string name = text.name;
  return {std::move(name), run_of_saved(std::move(text))};
}

NamedRecord named_record(SavedRun saved, std::string name) {
  Report run = parse_run_record(saved.record, name);
  if (saved.series) run.energy.course = *std::move(saved.series);
  return {std::move(name), std::move(run)};
}

/// The history of the settings. Throws `Error` if there is none.
std::unique_ptr<RunHistory> open_saved_runs() {
  return std::make_unique<RunHistory>(history_of(read_settings()), RunHistory::IfMissing::refuse);
}

/// Throws `Error` if the file cannot be read, or holds one value that is no record.
void load_file(const std::string& path, LoadedRuns& loaded) {
  const std::string content = content_of_file(path);
  const std::string name = path == "-" ? "standard input" : path;
  // Half a file still has the records before.
  std::string_view rest = content;
  const bool is_one_value = rest.find('\n') + 1 >= rest.size() || !rest.starts_with("{\"");
  if (is_one_value) {
    for (RecordText& record : parse_records(rest, name)) {
      loaded.records.push_back(named_record(std::move(record)));
    }
    return;
  }
  constexpr std::size_t kMostProblems = 5;
  std::size_t bad = 0;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = take_line(rest);
    if (line.empty()) continue;
    const std::string place = fmt::format("{}, line {}", name, number);
    try {
      loaded.records.push_back(named_record({parse_record(line, place), place}));
    } catch (const FormatError& error) {
      if (++bad <= kMostProblems) loaded.problems.emplace_back(error.what());
    }
  }
  if (bad > kMostProblems) {
    loaded.problems.push_back(fmt::format("{}: {} more lines are no record of a run",
                                          printable(name), bad - kMostProblems));
  }
}

void load_query(RunHistory& history, const std::string& query, LoadedRuns& loaded) {
  const std::size_t before = loaded.records.size();
  history.each(parse_history_query(query, to_unix(machine_clock().now())), [&](SavedRun run) {
    std::string id = run.id;
    loaded.records.push_back(named_record(std::move(run), std::move(id)));
  });
  for (std::string& damage : history.take_damage()) loaded.problems.push_back(std::move(damage));
  if (loaded.records.size() == before) {
    loaded.problems.push_back(
        fmt::format("no saved run fulfils {}; wattle history lists them", printable(query)));
  }
}

}  // namespace

bool is_file_name(const std::string& word) {
  std::error_code error;
  return word == "-" || word.find_first_of("/.") != std::string::npos ||
         std::filesystem::exists(word, error);
}

std::string content_of_file(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 30U;
  const InputFile input = open_input(path);
  if (!input.file) throw Error(fmt::format("cannot read {}: {}", printable(path), input.problem));
  if (auto content = read_rest(input.file, kMostBytes)) return *std::move(content);
  throw Error(
      fmt::format("cannot read {}: {}", printable(path), std::generic_category().message(errno)));
}

LoadedRuns load_runs(const std::vector<std::string>& words) {
  LoadedRuns loaded;
  std::unique_ptr<RunHistory> history;
  for (const std::string& word : words) {
    const bool is_query = is_history_query(word);
    try {
      if (!is_query && is_file_name(word)) {
        load_file(word, loaded);
        continue;
      }
      if (!history) history = open_saved_runs();
      if (is_query) {
        load_query(*history, word, loaded);
        continue;
      }
      loaded.records.push_back(named_record(history->get(word), word));
    } catch (const Error& error) {
      loaded.problems.emplace_back(error.what());
    }
  }
  return loaded;
}

}  // namespace wattle::app
