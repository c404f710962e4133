// The history of runs: one SQLite file that any number of processes read and add to.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sqlite.hpp"
#include "base/text/printable_text.hpp"
#include "report/report.hpp"
#include "runs/history/git_state.hpp"
#include "sampling/power_course.hpp"

namespace wattle {

using Tags = std::map<PrintableText, PrintableText>;

/// A run in a list. Absent: unknown.
struct RunSummary {
  std::string id;
  double started_unix_s = 0.0;
  double wall_s = 0.0;
  PrintableText command;  ///< as a shell line
  PrintableText host;
  PrintableText wattle_version{};  ///< that measured it; in no list
  std::optional<int> exit_code{};  ///< at most one of it and `signal`
  std::optional<int> signal{};
  std::optional<double> energy_j{};
  std::optional<double> energy_uncertainty_j{};
  std::optional<bool> energy_is_lower_bound{};  ///< absent without energy
  Flags energy_flags{};                         ///< of the domains in it
  std::optional<double> cpu_s{};
  std::optional<std::uint64_t> peak_rss_bytes{};
  PrintableText git_commit{};  ///< empty: none
  std::optional<bool> git_dirty{};
  Tags tags{};
};

/// A run to be saved, and the whole of a saved one.
struct SavedRun {
  std::string id;      ///< set by the history; ignored by `save`
  std::string record;  ///< JSON, one line without its end: wattle.run/2
  Tags tags{};
  PrintableText directory{};      ///< the working directory; empty: unknown
  std::optional<GitState> git{};  ///< absent: the directory is in no git repository
  std::optional<PowerCourse> series{};
  /// The summary of a record just written or read, so that `save` need not read it; else absent.
  std::optional<RunSummary> summary{};
};

/// Which runs are asked for: those that fulfil all of it.
struct HistoryFilter {
  std::string command{};                 ///< the command line contains it; empty: any
  std::string host{};                    ///< equal; empty: any
  Tags tags{};                           ///< each of them; an empty value: the key with any value
  std::optional<double> since_unix_s{};  ///< start, from
  std::optional<double> until_unix_s{};  ///< and before
  std::optional<std::size_t> limit{};    ///< how many of the newest; absent: all
};

/// The file that `WATTLE_HISTORY` names, else `$XDG_STATE_HOME/wattle/history.db`, else
/// `~/.local/state/wattle/history.db`. Throws `Error` if there is no state folder.
[[nodiscard]] std::filesystem::path default_history_path();

/// The summary of a run, without ID, git and tags. It is the same whether the run is as it was
/// measured or was read from its record.
[[nodiscard]] RunSummary summary_of(const Report& run);

/// The file, open. A run that `save` returned for stays, also if the process is killed or the
/// machine loses power. Only the file's owner may read it. Threads: one at a time; any number of
/// processes.
class RunHistory {
 public:
  /// How long a call waits for other processes that write.
  static constexpr std::chrono::milliseconds kPatience{5000};

  enum class IfMissing : std::uint8_t { make, refuse };
  /// Opens the file, and brings it to the newest version of its tables. A missing one is made, with
  /// the folders above it; or refused by an `Error`. A history of this version that cannot be
  /// changed (a full disk, a file system or rights that only read, another user's) is read all the
  /// same, and what changes it throws. What a file holds beside tables (triggers, views) does
  /// nothing. Throws `Error` for a file of another program, of a newer wattle, or a damaged one,
  /// which stays as it is; `WriteError`.
  explicit RunHistory(const std::filesystem::path& path, IfMissing missing = IfMissing::make,
                      std::chrono::milliseconds patience = kPatience);

  // All of the following throw `WriteError` if the file cannot be read or written (EBUSY: other
  // processes kept it busy for longer than the patience), `Error` if it is damaged.

  /// Returns the new ID. The same record again is not saved again: it returns the ID that it has.
  /// Throws `FormatError` unless `saved.record` is a record of a run.
  std::string save(const SavedRun& saved);
  struct SavedAll {
    std::vector<std::string> ids;  ///< in the order of the runs
    std::size_t added = 0;         ///< how many were new
  };
  /// The same for many, in one transaction: all of them or none.
  SavedAll save_all(std::span<const SavedRun> runs);

  /// Newest first. A damaged row is made from its record; without one it is left out, and named in
  /// `take_damage`.
  [[nodiscard]] std::vector<RunSummary> list(const HistoryFilter& filter);
  /// How many `list` would give without its limit.
  [[nodiscard]] std::size_t count(const HistoryFilter& filter);

  /// The run with the ID, or the only one whose ID starts with `id`. Throws `InvalidArgument`,
  /// which says whether there is none, several, or `id` is no ID.
  [[nodiscard]] SavedRun get(std::string_view id);
  /// The whole runs that fulfil `filter`, newest first. Damaged ones are left out, and named in
  /// `take_damage`. `get` throws `Error` for one.
  void each(const HistoryFilter& filter, const std::function<void(SavedRun)>& take);
  /// All of them or none: throws as `get` does.
  void remove(const std::vector<std::string>& ids);

  /// Sentences: what was left out since the last call because it is damaged, or was given without
  /// its power over time, or with tags, a commit or a folder that may be wrong.
  [[nodiscard]] std::vector<std::string> take_damage() { return std::exchange(damage_, {}); }

  struct Check {
    std::size_t runs = 0;                ///< all
    std::size_t repaired = 0;            ///< whose row was wrong, and is as its record again
    std::vector<std::string> damaged{};  ///< runs that stay damaged: one sentence for each
    /// Runs whose tags, commit or folder may be others than those that were saved (found once), or
    /// whose power over time is damaged.
    std::vector<std::string> doubtful{};
    std::vector<std::string> problems{};  ///< what SQLite reports of the file
  };
  /// Compares each record with its ID (which is a hash of it) and each row with its record, and
  /// repairs rows.
  [[nodiscard]] Check check();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  struct FoundRun {
    std::int64_t number;
    std::uint64_t id;
  };
  void prepare();
  void find_lower_bounds();
  [[nodiscard]] bool reads_alone();
  void require_own_file() const;
  /// The first column of the row that a query finds; absent: it finds none.
  [[nodiscard]] std::optional<std::int64_t> query_number(std::string_view sql,
                                                         const std::vector<SqlValue>& values = {});
  [[nodiscard]] std::int64_t version();
  void run(std::string_view sql, const std::vector<SqlValue>& values = {});
  void query(std::string_view sql, const std::vector<SqlValue>& values, const TakeRow& take);
  [[noreturn]] void fail(int error);
  [[nodiscard]] std::int64_t number_in(std::string_view table, std::string_view column,
                                       const std::string& text);
  [[nodiscard]] FoundRun find(std::string_view id);
  /// True if it is new.
  bool insert(const SavedRun& saved, std::uint64_t& id);
  void insert_record(const FoundRun& saved, const SavedRun& run, std::int64_t host,
                     const std::string& version);
  [[nodiscard]] bool has_record(std::uint64_t id, const std::string& record);
  [[nodiscard]] std::string record_of(const SqlRow& row);
  /// Throws `Error` unless the record is whole.
  [[nodiscard]] std::string whole_record(const FoundRun& found);
  /// The summary of the run, by its record; git and tags as in `known`.
  [[nodiscard]] RunSummary summary_by_record(const FoundRun& found, RunSummary known);
  /// The data of a run besides its record and its row; without its ID and record.
  struct Details {
    SavedRun run{};
    bool is_whole = true;         ///< without the power over time
    bool is_series_whole = true;  ///< false: it is left out
  };
  [[nodiscard]] Details details_of(const FoundRun& found);
  void seal_details(const FoundRun& found);
  void seal_all_details();
  void seal_all();
  void write_row(std::int64_t number, const RunSummary& run);
  /// Rows of runs as they are.
  struct StoredRun {
    std::int64_t number;
    std::optional<std::int64_t> seal;
    RunSummary run;
    [[nodiscard]] bool is_whole() const;
  };
  /// Adds to `result` what is wrong with a run. Throws where its record is damaged.
  void check_row(const StoredRun& row, Check& result);
  [[nodiscard]] std::vector<StoredRun> rows(std::string_view rest,
                                            const std::vector<SqlValue>& values);
  [[nodiscard]] SavedRun read(const FoundRun& found);
  void remove_damaged(std::uint64_t id);
  void remove_number(std::int64_t number);
  [[nodiscard]] Tags tags_of(std::int64_t number);
  [[nodiscard]] std::vector<FoundRun> numbers(const HistoryFilter& filter);
  [[nodiscard]] const std::string& dictionary(std::int64_t number);
  [[nodiscard]] std::int64_t dictionary_for(std::int64_t host, const std::string& version,
                                            const std::string& record);
  /// All of `work`, or nothing of it.
  void transaction(const std::function<void()>& work);

  std::filesystem::path path_;
  int why_unchangeable_ = 0;  ///< `errno`; 0: the file can be changed
  SqliteDatabase database_;
  std::map<std::int64_t, std::string> dictionaries_;
  std::vector<std::string> damage_{};
};

}  // namespace wattle
