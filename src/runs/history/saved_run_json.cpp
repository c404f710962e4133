#include "runs/history/saved_run_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json/json_fields.hpp"
#include "base/text/text.hpp"
#include "runs/record_text.hpp"
#include "runs/run_record.hpp"
#include "sampling/energy_fields.hpp"

namespace wattle {
namespace {

constexpr std::string_view kIdDigits = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr unsigned kBitsPerDigit = 5;
constexpr std::size_t kIdLength = kRunIdBits / kBitsPerDigit;
constexpr std::size_t kShortestId = 4;

}  // namespace

std::uint64_t run_id_of(std::string_view record) noexcept {
  const std::uint64_t hash = hash_of(record);  // folded to the bits of an ID
  return (hash ^ (hash >> kRunIdBits)) & ((std::uint64_t{1} << kRunIdBits) - 1);
}

std::string run_id_text(std::uint64_t id) {
  std::string text(kIdLength, '0');
  for (std::size_t i = kIdLength; i-- > 0; id >>= kBitsPerDigit) text[i] = kIdDigits[id % 32];
  return text;
}

std::optional<RunIdRange> parse_run_id(std::string_view text) noexcept {
  if (text.size() < kShortestId || text.size() > kIdLength) return std::nullopt;
  std::uint64_t id = 0;
  for (const char c : text) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const std::size_t digit = kIdDigits.find(lower);
    if (digit == std::string_view::npos) return std::nullopt;
    id = id << kBitsPerDigit | digit;
  }
  const auto missing = static_cast<unsigned>(kIdLength - text.size()) * kBitsPerDigit;
  return RunIdRange{.first = id << missing, .last = ((id + 1) << missing) - 1};
}

// All but the path.
template <>
inline constexpr auto kFields<GitState> =
    std::tuple(Field("commit", &GitState::commit), Field("branch", &GitState::branch),
               Field("dirty", &GitState::dirty), Field("unknown", &GitState::unknown));

namespace {

using Json = nlohmann::ordered_json;

Json git_json(const std::optional<GitState>& git) {
  Json json = json_of(git);
  if (git) json["worktree"] = text_or_null(git->worktree.string());
  return json;
}

std::optional<GitState> git_of(const Json& json) {
  std::optional<GitState> git;
  take(json, git);
  std::string worktree;
  take_member(json, "worktree", worktree);
  if (git) git->worktree = worktree;
  return git;
}

/// One number per column; null where none is known.
template <class Value>
Json column_list(const std::vector<PowerColumn>& columns, Value value) {
  Json list = Json::array();
  bool is_any_known = false;
  for (const PowerColumn& column : columns) {
    const std::optional<Watts> power = value(column);
    is_any_known = is_any_known || power;
    list.push_back(power ? Json(std::round(power->si() * 1e3) / 1e3) : Json(nullptr));
  }
  return is_any_known ? list : Json(nullptr);
}

Json columns_json(const std::vector<PowerColumn>& columns) {
  return {
      {"mean_w", column_list(columns, [](const PowerColumn& column) { return column.mean; })},
      {"uncertainty_w", column_list(columns,
                                    [](const PowerColumn& column) {
                                      return column.mean ? std::optional(column.uncertainty)
                                                         : std::nullopt;
                                    })},
      {"lowest_w", column_list(columns, [](const PowerColumn& column) { return column.lowest; })},
      {"highest_w",
       column_list(columns, [](const PowerColumn& column) { return column.highest; })}};
}

Json series_json(const std::optional<PowerCourse>& series) {
  if (!series) return nullptr;
  Json domains = json_list(series->domains, [](const DomainCourse& domain) {
    Json json = {{"name", domain.name}};
    json.update(columns_json(domain.columns));
    return json;
  });
  return {{"length_s", whole_nanoseconds(series->length)},
          {"column_s", whole_nanoseconds(series->column)},
          {"step_s", whole_nanoseconds(series->step)},
          {"columns", series->count()},
          {"domains", std::move(domains)},
          {"total", series->total.empty() ? Json(nullptr) : columns_json(series->total)}};
}

std::optional<Watts> watts_at(const Json& list, std::size_t place) {
  if (!list.is_array() || place >= list.size() || !list[place].is_number()) return std::nullopt;
  constexpr double kMost = 1e9;  // no machine has more
  const auto watts = list[place].get<double>();
  return std::abs(watts) <= kMost ? std::optional(Watts(watts)) : std::nullopt;
}

std::vector<PowerColumn> columns_of(const Json& json, std::size_t count) {
  std::vector<PowerColumn> columns(count);
  for (std::size_t i = 0; i < count; ++i) {
    PowerColumn& column = columns[i];
    column.mean = watts_at(at(json, "mean_w"), i);
    if (!column.mean) continue;
    column.uncertainty = watts_at(at(json, "uncertainty_w"), i).value_or(Watts(0.0));
    const auto lowest = watts_at(at(json, "lowest_w"), i);
    const auto highest = watts_at(at(json, "highest_w"), i);
    if (!lowest || !highest) continue;
    column.lowest = lowest;
    column.highest = highest;
  }
  return columns;
}

/// A time of a nanosecond or more.
std::optional<Seconds> time_in(const Json& json, const char* key) {
  constexpr double kLongest = 1e9;
  const Json& value = at(json, key);
  if (!value.is_number()) return std::nullopt;
  const auto seconds = value.get<double>();
  return seconds >= 1e-9 && seconds < kLongest ? std::optional(Seconds(seconds)) : std::nullopt;
}

std::optional<PowerCourse> series_of(const Json& json) {
  const auto length = time_in(json, "length_s");
  const auto column = time_in(json, "column_s");
  const auto step = time_in(json, "step_s");
  std::optional<std::uint64_t> count;
  take_member(json, "columns", count);
  const Json& domains = at(json, "domains");
  if (!length || !column || !step || !domains.is_array() || domains.empty()) return std::nullopt;
  if (!count || *count > PowerCourse::kMostColumns) return std::nullopt;
  if (domains.size() > PowerCourse::kMostDomains) return std::nullopt;
  PowerCourse course{.length = *length, .column = *column, .step = *step};
  for (const Json& domain : domains) {
    DomainCourse& of = course.domains.emplace_back();
    take_member(domain, "name", of.name);
    of.columns = columns_of(domain, *count);
  }
  if (at(json, "total").is_object()) course.total = columns_of(at(json, "total"), *count);
  return course;
}

}  // namespace

std::string saved_run_line(const SavedRun& run) {
  const Json json = {{"schema", kSavedRunSchema}, {"id", text_or_null(run.id)},
                     {"tags", run.tags},          {"directory", text_or_null(run.directory)},
                     {"git", git_json(run.git)},  {"series", series_json(run.series)}};
  // The record stays as it was written.
  std::string line = dumped(json);
  line.back() = ',';
  return line + "\"record\":" + run.record + "}";
}

SavedRun parse_saved_run(std::string_view line, const std::string& name) {
  Json json = parse_record(line, name);
  SavedRun run;
  if (schema_of(json) != kSavedRunSchema) {
    run.record = dumped(json);
    run.summary = summary_of(run_of({std::move(json), name}));
    return run;
  }
  take_member(json, "id", run.id);
  take_member(json, "directory", run.directory);
  if (const Json& tags = at(json, "tags"); tags.is_object()) {
    for (const auto& [key, value] : tags.items()) {
      if (!key.empty() && value.is_string()) run.tags.emplace(key, value.get<std::string>());
    }
  }
  run.git = git_of(at(json, "git"));
  run.series = series_of(at(json, "series"));
  Json& record = json["record"];
  run.record = dumped(record);
  run.summary = summary_of(run_of({std::move(record), name}));
  return run;
}

Report run_of_saved(RecordText record) {
  if (schema_of(record.json) != kSavedRunSchema) return run_of(std::move(record));
  Report run = run_of({std::move(record.json["record"]), record.name});
  if (auto series = series_of(at(record.json, "series"))) run.energy.course = *std::move(series);
  return run;
}

Json summary_json(const RunSummary& run) {
  return {{"id", run.id},
          {"started_unix_s", run.started_unix_s},
          {"wall_s", run.wall_s},
          {"command", run.command},
          {"host", text_or_null(run.host)},
          {"exit_code", or_null(run.exit_code)},
          {"signal", or_null(run.signal)},
          {"energy_j", or_null(run.energy_j)},
          {"energy_uncertainty_j", or_null(run.energy_uncertainty_j)},
          {"energy_is_lower_bound", or_null(run.energy_is_lower_bound)},
          {"energy_flags", json_of(run.energy_flags)},
          {"cpu_s", or_null(run.cpu_s)},
          {"peak_rss_bytes", or_null(run.peak_rss_bytes)},
          {"git_commit", text_or_null(run.git_commit)},
          {"git_dirty", or_null(run.git_dirty)},
          {"tags", run.tags}};
}

}  // namespace wattle
