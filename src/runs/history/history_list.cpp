// Lists of runs: each run in short, and the runs that a filter selects.
#include <fmt/format.h>

#include "base/json/json_write.hpp"
#include "base/numbers/known_sum.hpp"
#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "runs/history/history.hpp"
#include "runs/history/history_values.hpp"
#include "runs/history/saved_run_json.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

/// The rest of a SELECT from `runs`, with its values.
struct SqlQuery {
  std::string text;
  std::vector<SqlValue> values{};
};

SqlQuery condition_of(const HistoryFilter& filter) {
  SqlQuery query;
  const auto add = [&](std::string_view condition, std::initializer_list<SqlValue> values) {
    query.text += query.text.empty() ? " WHERE " : " AND ";
    query.text += condition;
    query.values.insert(query.values.end(), values);
  };
  if (!filter.command.empty()) {
    add("command IN (SELECT id FROM commands WHERE instr(line, ?) > 0)", {filter.command});
  }
  if (!filter.host.empty()) {
    add("host = (SELECT id FROM hosts WHERE name = ?)", {filter.host});
  }
  if (filter.since_unix_s) add("started >= ?", {*filter.since_unix_s});
  if (filter.until_unix_s) add("started < ?", {*filter.until_unix_s});
  // With "+" SQLite goes through the runs by their start, and need not sort those of a tag.
  for (const auto& [key, value] : filter.tags) {
    if (value.empty()) {
      add("+number IN (SELECT run FROM tags WHERE key = ?)", {key});
    } else {
      add("+number IN (SELECT run FROM tags WHERE key = ? AND value = ?)", {key, value});
    }
  }
  return query;
}

SqlQuery query_of(const HistoryFilter& filter) {
  SqlQuery query = condition_of(filter);
  query.text += " ORDER BY started DESC, number DESC";
  if (filter.limit) {
    query.text += " LIMIT ?";
    query.values.emplace_back(static_cast<std::int64_t>(*filter.limit));
  }
  return query;
}

std::optional<double> number_or_none(const SqlRow& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(row.number(column));
}
std::optional<int> integer_or_none(const SqlRow& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(static_cast<int>(row.integer(column)));
}

}  // namespace

RunSummary summary_of(const Report& run) {
  // As the record has them: it holds no more digits, and no bytes that are not UTF-8.
  std::vector<std::string> command;
  command.reserve(run.command.size());
  for (const std::string& word : run.command) command.push_back(valid_utf8(word));
  const auto seconds = [](const std::optional<Seconds>& time) {
    return time ? std::optional(whole_nanoseconds(*time)) : std::nullopt;
  };
  const Total& total = run.energy.total;
  RunSummary summary{.id = {},
                     .started_unix_s = run.started_unix_s,
                     .wall_s = whole_nanoseconds(run.wall),
                     .command = shell_line(command),
                     .host = valid_utf8(run.host.name),
                     .wattle_version = version_of(run),
                     .exit_code = run.exit.code,
                     .signal = run.exit.signal,
                     .energy_j = si(total.energy),
                     .cpu_s = known_sum(seconds(run.usage.cpu_user), seconds(run.usage.cpu_system)),
                     .peak_rss_bytes = run.usage.peak_rss_bytes};
  if (!total.energy) return summary;
  summary.energy_uncertainty_j = with_two_digits(total.uncertainty).si();
  summary.energy_is_lower_bound = is_lower_bound(total);
  summary.energy_flags = total.flags;
  return summary;
}

std::vector<RunHistory::StoredRun> RunHistory::rows(std::string_view rest,
                                                    const std::vector<SqlValue>& values) {
  enum RunColumn {
    number_column,
    id_column,
    started_column,
    wall_column,
    command_column,
    host_column,
    code_column,
    signal_column,
    energy_column,
    uncertainty_column,
    cpu_column,
    memory_column,
    commit_column,
    dirty_column,
    lower_bound_column,
    flags_column,
    seal_column
  };
  std::vector<StoredRun> list;
  const std::string columns =
      "SELECT number, id, started, wall, (SELECT line FROM commands WHERE id = command), "
      "(SELECT name FROM hosts WHERE id = host), ";
  query(columns + "exit_code, signal, energy, uncertainty, cpu, memory, git_commit, git_dirty, " +
            "lower_bound, flags, seal FROM runs" + std::string(rest),
        values, [&](const SqlRow& row) {
          StoredRun& one = list.emplace_back();
          RunSummary& run = one.run;
          one.number = row.integer(number_column);
          if (!row.is_null(seal_column)) one.seal = row.integer(seal_column);
          run.id = run_id_text(static_cast<std::uint64_t>(row.integer(id_column)));
          run.started_unix_s = row.number(started_column);
          run.wall_s = row.number(wall_column);
          run.command = row.text(command_column);
          run.host = row.text(host_column);
          run.exit_code = integer_or_none(row, code_column);
          run.signal = integer_or_none(row, signal_column);
          run.energy_j = number_or_none(row, energy_column);
          run.energy_uncertainty_j = number_or_none(row, uncertainty_column);
          run.cpu_s = number_or_none(row, cpu_column);
          if (!row.is_null(memory_column)) {
            run.peak_rss_bytes = static_cast<std::uint64_t>(row.integer(memory_column));
          }
          run.git_commit = row.text(commit_column);
          if (!row.is_null(dirty_column)) run.git_dirty = row.integer(dirty_column) != 0;
          if (!row.is_null(lower_bound_column)) {
            run.energy_is_lower_bound = row.integer(lower_bound_column) != 0;
          }
          if (!row.is_null(flags_column)) {
            run.energy_flags =
                Flags::from_bits(static_cast<std::uint32_t>(row.integer(flags_column)));
          }
        });
  for (StoredRun& row : list) row.run.tags = tags_of(row.number);
  return list;
}

std::vector<RunSummary> RunHistory::list(const HistoryFilter& filter) {
  const SqlQuery asked = query_of(filter);
  std::vector<RunSummary> list;
  for (StoredRun& row : rows(asked.text, asked.values)) {
    if (row.is_whole()) {
      list.push_back(std::move(row.run));
      continue;
    }
    const std::uint64_t id = parse_run_id(row.run.id).value_or(RunIdRange{}).first;
    try {
      list.push_back(summary_by_record({row.number, id}, std::move(row.run)));
      if (row.seal != seal_of(list.back())) damage_.push_back(doubt_text(id));
    } catch (const WriteError&) {
      throw;
    } catch (const Error& error) {
      damage_.push_back(damage_text(id, error.what()));
    }
  }
  return list;
}

std::size_t RunHistory::count(const HistoryFilter& filter) {
  const SqlQuery asked = condition_of(filter);
  const auto count = query_number("SELECT count(*) FROM runs" + asked.text, asked.values);
  return static_cast<std::size_t>(count.value_or(0));
}

std::vector<RunHistory::FoundRun> RunHistory::numbers(const HistoryFilter& filter) {
  std::vector<FoundRun> found;
  const SqlQuery asked = query_of(filter);
  query("SELECT number, id FROM runs" + asked.text, asked.values, [&](const SqlRow& row) {
    found.push_back({row.integer(0), static_cast<std::uint64_t>(row.integer(1))});
  });
  return found;
}

Tags RunHistory::tags_of(std::int64_t number) {
  Tags tags;
  query("SELECT key, value FROM tags WHERE run = ?", {number},
        [&](const SqlRow& row) { tags.emplace(row.text(0), row.text(1)); });
  return tags;
}

SavedRun RunHistory::read(const FoundRun& found) {
  std::string record = whole_record(found);
  Details details = details_of(found);
  if (!details.is_whole) damage_.push_back(doubt_text(found.id));
  if (!details.is_series_whole) damage_.push_back(series_damage_text(found.id));
  details.run.id = run_id_text(found.id);
  details.run.record = std::move(record);
  return std::move(details.run);
}

SavedRun RunHistory::get(std::string_view id) {
  const FoundRun found = find(id);
  try {
    return read(found);
  } catch (const WriteError&) {
    throw;
  } catch (const Error& error) {
    throw Error(damage_text(found.id, error.what()));
  }
}

void RunHistory::each(const HistoryFilter& filter, const std::function<void(SavedRun)>& take) {
  for (const FoundRun& found : numbers(filter)) {
    std::optional<SavedRun> run;
    try {
      run = read(found);
    } catch (const WriteError&) {
      throw;
    } catch (const Error& error) {
      damage_.push_back(damage_text(found.id, error.what()));
    }
    if (run) take(*std::move(run));
  }
}

}  // namespace wattle
