// Finds damage in a history, and repairs it from what is whole.
#include <fmt/format.h>

#include <bit>
#include <string>
#include <utility>

#include "base/deflate.hpp"
#include "base/text/text.hpp"
#include "runs/history/history.hpp"
#include "runs/history/history_values.hpp"
#include "runs/history/saved_run_json.hpp"
#include "runs/run_record.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

/// Every bit of a number: 0.1 + 0.2 is another one than 0.3.
std::string exact_text(double number) {
  return fmt::format("{:x}", std::bit_cast<std::uint64_t>(number + 0.0));  // -0.0 is stored as 0.0
}
template <class T>
std::string exact_text(const std::optional<T>& value) {
  if (!value) return "-";
  if constexpr (std::is_floating_point_v<T>) {
    return exact_text(*value);
  } else {
    return fmt::format("{}", *value);
  }
}

}  // namespace

std::int64_t seal_of(const RunSummary& run) {
  std::string text = joined(
      std::vector<std::string>{
          run.id, exact_text(run.started_unix_s), exact_text(run.wall_s), run.command, run.host,
          exact_text(run.exit_code), exact_text(run.signal), exact_text(run.energy_j),
          exact_text(run.energy_uncertainty_j), exact_text(run.energy_is_lower_bound),
          fmt::format("{}", run.energy_flags.bits()), exact_text(run.cpu_s),
          exact_text(run.peak_rss_bytes), run.git_commit, exact_text(run.git_dirty)},
      "\n");
  for (const auto& [key, value] : run.tags) text += fmt::format("\n{}={}", key, value);
  return std::bit_cast<std::int64_t>(hash_of(text));
}

std::int64_t seal_of(const SavedRun& run, std::uint64_t id) {
  const GitState git = run.git.value_or(GitState{});
  std::string text =
      joined(std::vector<std::string>{run_id_text(id), run.directory, git.worktree.string(),
                                      git.branch, git.unknown, git.commit, exact_text(git.dirty)},
             "\n");
  for (const auto& [key, value] : run.tags) text += fmt::format("\n{}={}", key, value);
  return std::bit_cast<std::int64_t>(hash_of(text));
}

std::int64_t seal_of_series(std::string_view packed) {
  return std::bit_cast<std::int64_t>(hash_of(packed));
}

void require_whole(std::string_view record, std::uint64_t id) {
  // Where two records have one ID, the later one gets the next.
  constexpr int kMostSteps = 8;
  std::uint64_t own = run_id_of(record);
  for (int step = 0; step < kMostSteps; ++step, own = next_run_id(own)) {
    if (own == id) return;
  }
  throw Error("its record is not the one that was saved");
}

std::string damage_text(std::uint64_t id, std::string_view why) {
  return fmt::format("run {} is damaged: {}; wattle history check reports all that are",
                     run_id_text(id), why);
}

std::string doubt_text(std::uint64_t id) {
  return fmt::format(
      "run {0}: its tags, its folder, its commit and branch, or whether files were changed, may "
      "not "
      "be as they were saved; see wattle history show {0}",
      run_id_text(id));
}

std::optional<PowerCourse> series_of(std::string_view packed) {
  // No series is longer; a damaged file must not take all memory.
  constexpr std::size_t kMostSeriesBytes = std::size_t{64} << 20U;
  const auto bytes = decompress(packed, {}, kMostSeriesBytes);
  return bytes ? PowerCourse::unpacked(*bytes) : std::nullopt;
}

std::string series_damage_text(std::uint64_t id) {
  return fmt::format("run {}: its power over time is damaged, and left out; the rest is whole",
                     run_id_text(id));
}

bool RunHistory::StoredRun::is_whole() const { return seal == seal_of(run); }

std::string RunHistory::whole_record(const FoundRun& found) {
  std::optional<std::string> record;
  query("SELECT dictionary, record FROM records WHERE run = ?", {found.number},
        [&](const SqlRow& row) { record = record_of(row); });
  if (!record) throw Error("it has no record");
  require_whole(*record, found.id);
  return *std::move(record);
}

RunSummary RunHistory::summary_by_record(const FoundRun& found, RunSummary known) {
  RunSummary run = summary_of(parse_run_record(whole_record(found), "the record"));
  run.id = std::move(known.id);
  run.git_commit = std::move(known.git_commit);
  run.git_dirty = known.git_dirty;
  run.tags = std::move(known.tags);
  return run;
}

void RunHistory::write_row(std::int64_t number, const RunSummary& run) {
  const auto set = [&](std::string_view columns, std::vector<SqlValue> values) {
    values.emplace_back(number);
    this->run(fmt::format("UPDATE runs SET {} WHERE number = ?", columns), values);
  };
  set("started = ?, wall = ?, command = ?, host = ?, exit_code = ?, signal = ?",
      {run.started_unix_s, run.wall_s, number_in("commands", "line", run.command),
       number_in("hosts", "name", run.host), sql_value(run.exit_code), sql_value(run.signal)});
  set("energy = ?, uncertainty = ?, lower_bound = ?, flags = ?, cpu = ?, memory = ?",
      {sql_value(run.energy_j), sql_value(run.energy_uncertainty_j),
       sql_value(run.energy_is_lower_bound), std::int64_t{run.energy_flags.bits()},
       sql_value(run.cpu_s), sql_value(run.peak_rss_bytes)});
  set("git_commit = ?, git_dirty = ?, seal = ?",
      {sql_value(run.git_commit), sql_value(run.git_dirty), seal_of(run)});
}

void RunHistory::find_lower_bounds() {
  std::vector<std::pair<std::int64_t, bool>> bounds;
  query(
      "SELECT dictionary, record, run FROM records JOIN runs ON run = number "
      "WHERE energy IS NOT NULL AND lower_bound IS NULL",
      {}, [&](const SqlRow& row) {
        try {
          const Report run = parse_run_record(record_of(row), "the record");
          bounds.emplace_back(row.integer(2), is_lower_bound(run.energy.total));
        } catch (const Error&) {
          return;  // a damaged record is refused when it is read
        }
      });
  for (const auto& [number, is_lower_bound] : bounds) {
    run("UPDATE runs SET lower_bound = ? WHERE number = ?",
        {is_lower_bound ? std::int64_t{1} : std::int64_t{0}, number});
  }
}

RunHistory::Details RunHistory::details_of(const FoundRun& found) {
  Details details{.run = {.id = {}, .record = {}, .tags = tags_of(found.number)}};
  query(
      "SELECT directory, worktree, git_branch, git_unknown, git_commit, git_dirty, series, "
      "records.seal, series_seal FROM records JOIN runs ON run = number WHERE run = ?",
      {found.number}, [&](const SqlRow& row) {
        enum DetailsColumn {
          directory_column,
          worktree_column,
          branch_column,
          unknown_column,
          commit_column,
          dirty_column,
          series_column,
          seal_column,
          series_seal_column
        };
        SavedRun& run = details.run;
        run.directory = row.text(directory_column);
        if (!row.is_null(worktree_column)) {
          run.git = GitState{.commit = std::string(row.text(commit_column)),
                             .branch = std::string(row.text(branch_column)),
                             .dirty = {},
                             .unknown = std::string(row.text(unknown_column)),
                             .worktree = row.text(worktree_column)};
          if (!row.is_null(dirty_column)) run.git->dirty = row.integer(dirty_column) != 0;
        }
        details.is_whole =
            !row.is_null(seal_column) && row.integer(seal_column) == seal_of(run, found.id);
        const bool has_seal = !row.is_null(series_seal_column);
        if (row.is_null(series_column)) {
          details.is_series_whole = !has_seal;
          return;
        }
        const std::string_view packed = row.text(series_column);
        if (has_seal && row.integer(series_seal_column) == seal_of_series(packed)) {
          run.series = series_of(packed);
        }
        details.is_series_whole = run.series.has_value();
      });
  return details;
}

void RunHistory::seal_details(const FoundRun& found) {
  run("UPDATE records SET seal = ? WHERE run = ?",
      {seal_of(details_of(found).run, found.id), found.number});
}

void RunHistory::seal_all_details() {
  std::vector<std::pair<std::int64_t, std::int64_t>> series;
  query("SELECT run, series FROM records WHERE series IS NOT NULL", {}, [&](const SqlRow& row) {
    series.emplace_back(row.integer(0), seal_of_series(row.text(1)));
  });
  for (const auto& [number, seal] : series) {
    run("UPDATE records SET series_seal = ? WHERE run = ?", {seal, number});
  }
  for (const FoundRun& found : numbers({})) seal_details(found);
}

void RunHistory::seal_all() {
  for (StoredRun& row : rows(" NOT INDEXED", {})) {
    const std::uint64_t id = parse_run_id(row.run.id).value_or(RunIdRange{}).first;
    try {
      write_row(row.number, summary_by_record({row.number, id}, row.run));
    } catch (const WriteError&) {
      throw;
    } catch (const Error&) {
      continue;  // without a seal it is found to be damaged when it is read
    }
  }
}

void RunHistory::check_row(const StoredRun& row, Check& result) {
  const std::uint64_t id = parse_run_id(row.run.id).value_or(RunIdRange{}).first;
  const RunSummary run = summary_by_record({row.number, id}, row.run);
  const Details details = details_of({row.number, id});
  if (!details.is_series_whole) result.doubtful.push_back(series_damage_text(id));
  const bool is_as_record = row.seal == seal_of(run);
  if (!details.is_whole || (!row.is_whole() && !is_as_record)) {
    result.doubtful.push_back(doubt_text(id));
  }
  if (!details.is_whole) seal_details({row.number, id});
  if (row.is_whole() && is_as_record) return;
  write_row(row.number, run);
  ++result.repaired;
}

RunHistory::Check RunHistory::check() {
  Check result;
  query("PRAGMA integrity_check(20)", {}, [&](const SqlRow& row) {
    if (row.text(0) != "ok") result.problems.push_back(printable(row.text(0)));
  });
  // An index that disagrees with its table is made again from it, where that works.
  if (!result.problems.empty()) (void)database_.run("REINDEX");
  transaction([&] {
    for (StoredRun& row : rows(" NOT INDEXED", {})) {
      ++result.runs;
      try {
        check_row(row, result);
      } catch (const WriteError&) {
        throw;
      } catch (const Error& error) {
        result.damaged.push_back(
            fmt::format("run {} stays damaged: {}; import it from an export, or remove it: wattle "
                        "history rm {}",
                        row.run.id, error.what(), row.run.id));
      }
    }
  });
  return result;
}

}  // namespace wattle
