#include "runs/history/history.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/deflate.hpp"
#include "base/files/appended_file.hpp"
#include "base/files/state_folder.hpp"
#include "base/text/text.hpp"
#include "runs/history/history_file.hpp"
#include "runs/history/history_values.hpp"
#include "runs/history/saved_run_json.hpp"
#include "runs/run_record.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

namespace fs = std::filesystem;

/// No record of a run is longer; a damaged file must not take all memory.
constexpr std::size_t kMostRecordBytes = std::size_t{64} << 20U;

/// Makes the file, so that only its owner may read it: SQLite gives its other files the same mode.
void make_file(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) throw WriteError(path.parent_path().string(), error.value());
  const Fd file = open_to_append(path.string(), Existing::keep, kModeForOwner);
  if (!file) throw WriteError(path.string(), errno);
}

SqliteDatabase open_file(const fs::path& path, RunHistory::IfMissing missing) {
  const std::string name = printable(path.string());
  switch (kind_of_history_file(path)) {
    case HistoryFileKind::foreign:
      throw Error(fmt::format(
          "{} is not a history of wattle; name another file (WATTLE_HISTORY), or move this one",
          name));
    case HistoryFileKind::missing:
      if (missing == RunHistory::IfMissing::refuse) {
        throw Error(
            fmt::format("there is no history yet: {} does not exist; save runs with wattle "
                        "run --save",
                        name));
      }
      make_file(path);
      break;
    case HistoryFileKind::empty:
    case HistoryFileKind::history:
      break;
  }
  return SqliteDatabase(path.string());
}

}  // namespace

fs::path default_history_path() {
  // Not with the privileges of a program that somebody else starts.
  const char* const chosen = ::secure_getenv("WATTLE_HISTORY");
  if (chosen != nullptr && *chosen != '\0') {
    std::error_code error;
    fs::path path = fs::absolute(chosen, error);
    if (!error) return path;
    throw Error(fmt::format(
        "WATTLE_HISTORY is a relative path, {}, and the working folder cannot be found: {}",
        printable(chosen), error.message()));
  }
  return state_folder() / "history.db";
}

RunHistory::RunHistory(const fs::path& path, IfMissing missing, std::chrono::milliseconds patience)
    : path_(path), database_(open_file(path, missing)) {
  if (const std::string why = why_not_own_history(path); !why.empty()) {
    // Nothing of it is changed, and no file is made beside it.
    why_unchangeable_ = EPERM;
    if (reads_alone()) return;
    throw Error(
        fmt::format("cannot read the history {}: {}, and it is in use, or of another version",
                    printable(path.string()), why));
  }
  database_.distrust();
  database_.set_patience(patience);
  try {
    prepare();
  } catch (const WriteError& error) {
    constexpr std::array kUnchangeable = {ENOSPC, EDQUOT, EROFS, EACCES, EPERM};
    // Where SQLite may not make its log, it tries to read one, and gives the error of that.
    const bool has_no_log = error.error_number() == ENOENT && ::access(path.c_str(), W_OK) != 0;
    const int why = has_no_log ? errno : error.error_number();
    if (std::ranges::count(kUnchangeable, why) == 0 || !reads_alone()) throw;
    why_unchangeable_ = why;
  }
}

void RunHistory::require_own_file() const {
  if (const std::string why = why_not_own_history(path_); !why.empty()) throw Error(why);
}

/// SQLite makes files beside a database also to read it. False where it takes them to read all.
bool RunHistory::reads_alone() {
  std::error_code none;
  const std::uintmax_t log_bytes = fs::file_size(path_.string() + "-wal", none);
  if (!none && log_bytes > 0) return false;
  database_ = SqliteDatabase(path_.string(), SqliteDatabase::Access::read_alone);
  database_.distrust();
  return version() == static_cast<std::int64_t>(kHistoryVersions.size());
}

void RunHistory::fail(int error) {
  const std::string name = printable(path_.string());
  if (database_.is_misshapen()) {
    throw Error(
        fmt::format("the history {} is damaged or was edited ({}); move it away, or import "
                    "what an older copy exports",
                    name, printable(database_.message())));
  }
  if (database_.is_damaged()) {
    throw Error(fmt::format(
        "the history {0} is damaged ({1}); move it away, and save what can be read: sqlite3 {0} "
        ".recover",
        name, printable(database_.message())));
  }
  throw WriteError(path_.string(), why_unchangeable_ != 0 ? why_unchangeable_ : error);
}

void RunHistory::run(std::string_view sql, const std::vector<SqlValue>& values) {
  if (const int error = database_.run(sql, values); error != 0) fail(error);
}

void RunHistory::query(std::string_view sql, const std::vector<SqlValue>& values,
                       const TakeRow& take) {
  if (const int error = database_.query(sql, values, take); error != 0) fail(error);
}

void RunHistory::transaction(const std::function<void()>& work) {
  run("BEGIN IMMEDIATE");
  try {
    work();
    run("COMMIT");
  } catch (...) {
    (void)database_.run("ROLLBACK");
    throw;
  }
}

std::optional<std::int64_t> RunHistory::query_number(std::string_view sql,
                                                     const std::vector<SqlValue>& values) {
  std::optional<std::int64_t> number;
  query(sql, values, [&](const SqlRow& row) { number = row.integer(0); });
  return number;
}

std::int64_t RunHistory::version() { return query_number("PRAGMA user_version").value_or(0); }

void RunHistory::prepare() {
  constexpr auto kNewest = static_cast<std::int64_t>(kHistoryVersions.size());
  const std::int64_t found = version();
  if (found < 0) {
    throw Error(fmt::format("the history {} is damaged: it is of version {}; move it away",
                            printable(path_.string()), found));
  }
  if (found > kNewest) {
    throw Error(fmt::format(
        "the history {} is of version {}, and this wattle reads up to {}; use a newer wattle",
        printable(path_.string()), found, kNewest));
  }
  // Before anything else of the file: it marks the file as Wattle's. Not yet with a log (WAL), in
  // which the first page might stay.
  if (found < kNewest) {
    transaction([&] {
      for (std::int64_t number = version(); number < kNewest; ++number) {
        std::string_view steps = kHistoryVersions.at(static_cast<std::size_t>(number));
        while (steps.find(';') != std::string_view::npos) {
          run(steps.substr(0, steps.find(';')));
          steps.remove_prefix(steps.find(';') + 1);
        }
      }
      if (found > 0) find_lower_bounds();
      if (found > 0) seal_all();
      if (found > 0) seal_all_details();
      run(fmt::format("PRAGMA application_id = {}", kHistoryMark));
      run(fmt::format("PRAGMA user_version = {}", kNewest));
    });
  }
  // Busy: another process changes it now; both kinds of journal are safe.
  if (is_on_this_machine(path_)) {
    const int error = database_.run("PRAGMA journal_mode = WAL");
    if (error != 0 && error != EBUSY) fail(error);
  }
  run("PRAGMA synchronous = FULL");
}

std::int64_t RunHistory::number_in(std::string_view table, std::string_view column,
                                   const std::string& text) {
  const auto known =
      query_number(fmt::format("SELECT id FROM {} WHERE {} = ?", table, column), {text});
  if (known) return *known;
  run(fmt::format("INSERT INTO {} ({}) VALUES (?)", table, column), {text});
  return database_.last_row_id();
}

const std::string& RunHistory::dictionary(std::int64_t number) {
  const auto known = dictionaries_.find(number);
  if (known != dictionaries_.end()) return known->second;
  std::string bytes;
  query("SELECT bytes FROM dictionaries WHERE id = ?", {number},
        [&](const SqlRow& row) { bytes = row.text(0); });
  return dictionaries_.emplace(number, std::move(bytes)).first->second;
}

/// Records of one machine and one wattle resemble each other: the first one is the dictionary of
/// the others.
std::int64_t RunHistory::dictionary_for(std::int64_t host, const std::string& version,
                                        const std::string& record) {
  const auto known =
      query_number("SELECT id FROM dictionaries WHERE host = ? AND version = ?", {host, version});
  if (known) return *known;
  // Deflate reaches no further back than this.
  constexpr std::size_t kReach = std::size_t{32} << 10U;
  const std::string_view first = std::string_view(record).substr(0, kReach);
  run("INSERT INTO dictionaries (host, version, bytes) VALUES (?, ?, ?)",
      {host, version, SqlBlob{first}});
  return database_.last_row_id();
}

void RunHistory::insert_record(const FoundRun& saved, const SavedRun& run, std::int64_t host,
                               const std::string& version) {
  const std::int64_t words = dictionary_for(host, version, run.record);
  const auto packed = compress(run.record, dictionary(words));
  const auto series = run.series ? compress(run.series->packed(), {}) : std::nullopt;
  const GitState git = run.git.value_or(GitState{});
  // A record that is not compressed, for want of the library, has no dictionary.
  this->run(
      "INSERT INTO records (run, dictionary, record, directory, worktree, git_branch, git_unknown, "
      "series, seal, series_seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {saved.number, packed ? SqlValue(words) : SqlValue(nullptr),
       SqlBlob{packed ? std::string_view(*packed) : run.record}, sql_value(run.directory),
       sql_value(git.worktree.string()), sql_value(git.branch), sql_value(git.unknown),
       series ? SqlValue(SqlBlob{*series}) : SqlValue(nullptr), seal_of(run, saved.id),
       series ? SqlValue(seal_of_series(*series)) : SqlValue(nullptr)});
}

std::string RunHistory::record_of(const SqlRow& row) {
  constexpr int kDictionary = 0;
  constexpr int kRecord = 1;
  if (row.is_null(kDictionary)) return std::string(row.text(kRecord));
  const auto record =
      decompress(row.text(kRecord), dictionary(row.integer(kDictionary)), kMostRecordBytes);
  if (record) return *record;
  throw Error("its record cannot be decompressed");
}

bool RunHistory::has_record(std::uint64_t id, const std::string& record) {
  bool is_same = false;
  query("SELECT dictionary, record FROM records JOIN runs ON run = number WHERE id = ?",
        {static_cast<std::int64_t>(id)},
        [&](const SqlRow& row) { is_same = record_of(row) == record; });
  return is_same;
}

/// A run whose record is damaged makes room for the same run from elsewhere.
void RunHistory::remove_damaged(std::uint64_t id) {
  const auto number =
      query_number("SELECT number FROM runs WHERE id = ?", {static_cast<std::int64_t>(id)});
  if (!number) return;
  try {
    (void)whole_record({*number, id});
  } catch (const WriteError&) {
    throw;
  } catch (const Error&) {
    remove_number(*number);
  }
}

bool RunHistory::insert(const SavedRun& saved, std::uint64_t& id) {
  RunSummary summary =
      saved.summary ? *saved.summary : summary_of(parse_run_record(saved.record, "the record"));
  const auto is_taken = [&] {
    return query_number("SELECT 1 FROM runs WHERE id = ?", {static_cast<std::int64_t>(id)})
        .has_value();
  };
  remove_damaged(run_id_of(saved.record));
  for (id = run_id_of(saved.record); is_taken(); id = next_run_id(id)) {
    if (has_record(id, saved.record)) return false;
  }
  const std::int64_t host = number_in("hosts", "name", summary.host);
  const GitState git = saved.git.value_or(GitState{});
  summary.id = run_id_text(id);
  summary.git_commit = git.commit;
  summary.git_dirty = git.dirty;
  summary.tags = saved.tags;
  run("INSERT INTO runs (id, started, wall, command, host) VALUES (?, ?, ?, ?, ?)",
      {static_cast<std::int64_t>(id), summary.started_unix_s, summary.wall_s,
       number_in("commands", "line", summary.command), host});
  const std::int64_t number = database_.last_row_id();
  write_row(number, summary);
  insert_record({number, id}, saved, host, summary.wattle_version);
  for (const auto& [key, value] : saved.tags) {
    run("INSERT INTO tags (key, value, run) VALUES (?, ?, ?)", {key, value, number});
  }
  return true;
}

std::string RunHistory::save(const SavedRun& saved) {
  return std::move(save_all({&saved, 1}).ids.front());
}

RunHistory::SavedAll RunHistory::save_all(std::span<const SavedRun> runs) {
  require_own_file();
  SavedAll all;
  transaction([&] {
    for (const SavedRun& saved : runs) {
      std::uint64_t id = 0;
      if (insert(saved, id)) ++all.added;
      all.ids.push_back(run_id_text(id));
    }
  });
  return all;
}

RunHistory::FoundRun RunHistory::find(std::string_view id) {
  const auto range = parse_run_id(id);
  if (!range) {
    throw InvalidArgument(fmt::format(
        "'{}' is no ID of a run: an ID has 8 letters and digits; the first 4 are enough",
        printable(id)));
  }
  std::vector<FoundRun> found;
  query("SELECT number, id FROM runs WHERE id BETWEEN ? AND ? LIMIT 3",
        {static_cast<std::int64_t>(range->first), static_cast<std::int64_t>(range->last)},
        [&](const SqlRow& row) {
          found.push_back({row.integer(0), static_cast<std::uint64_t>(row.integer(1))});
        });
  if (found.empty()) {
    throw InvalidArgument(fmt::format("no run has the ID {}; see wattle history", printable(id)));
  }
  if (found.size() > 1) {
    throw InvalidArgument(fmt::format("several runs have IDs that start with {}: {}, {}{}",
                                      printable(id), run_id_text(found[0].id),
                                      run_id_text(found[1].id), found.size() > 2 ? " ..." : ""));
  }
  return found.front();
}

void RunHistory::remove(const std::vector<std::string>& ids) {
  transaction([&] {
    std::vector<FoundRun> all;
    all.reserve(ids.size());
    for (const std::string& id : ids) all.push_back(find(id));
    for (const FoundRun& found : all) remove_number(found.number);
  });
}

void RunHistory::remove_number(std::int64_t number) {
  run("DELETE FROM tags WHERE run = ?", {number});
  run("DELETE FROM records WHERE run = ?", {number});
  run("DELETE FROM runs WHERE number = ?", {number});
}

}  // namespace wattle
