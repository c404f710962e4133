// What a list of runs has: each run in short, and the runs that a filter selects.
#include <fmt/format.h>

#include "base/quantity.hpp"
#include "base/text.hpp"
#include "runs/history.hpp"
#include "runs/run_id.hpp"

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

RunSummary summary_of(const RunRecord& record) {
  const std::optional<Seconds> cpu = record.cpu();
  return {.id = {},
          .started_unix_s = record.started_unix_s,
          .wall_s = record.wall.count(),
          .command = shell_line(record.command),
          .host = record.host.name,
          .exit_code = record.exit.code,
          .signal = record.exit.signal,
          .energy_j = si(record.energy.total),
          .energy_uncertainty_j = si(record.energy.uncertainty),
          .energy_is_lower_bound =
              record.energy.total ? std::optional(record.energy.is_lower_bound()) : std::nullopt,
          .cpu_s = cpu ? std::optional(cpu->count()) : std::nullopt,
          .peak_rss_bytes = record.peak_rss_bytes};
}

std::vector<RunSummary> RunHistory::list(const HistoryFilter& filter) {
  enum Column {
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
    lower_bound_column
  };
  std::vector<RunSummary> list;
  std::vector<std::int64_t> numbers;
  const SqlQuery asked = query_of(filter);
  const std::string columns =
      "SELECT number, id, started, wall, (SELECT line FROM commands WHERE id = command), "
      "(SELECT name FROM hosts WHERE id = host), ";
  query(columns + "exit_code, signal, energy, uncertainty, cpu, memory, git_commit, git_dirty, " +
            "lower_bound FROM runs" + asked.text,
        asked.values, [&](const SqlRow& row) {
          RunSummary& run = list.emplace_back();
          numbers.push_back(row.integer(number_column));
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
        });
  for (std::size_t i = 0; i < list.size(); ++i) list[i].tags = tags_of(numbers[i]);
  return list;
}

std::size_t RunHistory::count(const HistoryFilter& filter) {
  const SqlQuery asked = condition_of(filter);
  const auto count = query_number("SELECT count(*) FROM runs" + asked.text, asked.values);
  return static_cast<std::size_t>(count.value_or(0));
}

std::vector<RunHistory::Found> RunHistory::numbers(const HistoryFilter& filter) {
  std::vector<Found> found;
  const SqlQuery asked = query_of(filter);
  query("SELECT number, id FROM runs" + asked.text, asked.values, [&](const SqlRow& row) {
    found.push_back({row.integer(0), static_cast<std::uint64_t>(row.integer(1))});
  });
  return found;
}

void RunHistory::each(const HistoryFilter& filter, const std::function<void(SavedRun)>& take) {
  for (const Found& found : numbers(filter)) take(read(found));
}

}  // namespace wattle
