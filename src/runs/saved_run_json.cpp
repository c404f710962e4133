#include "runs/saved_run_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_read.hpp"
#include "base/text.hpp"
#include "runs/record_text.hpp"
#include "usage/usage_json.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using Json = nlohmann::ordered_json;

Json bool_or_null(const std::optional<bool>& value) { return value ? Json(*value) : Json(nullptr); }

Json git_json(const std::optional<GitState>& git) {
  if (!git) return nullptr;
  return {{"commit", text_or_null(git->commit)},
          {"branch", text_or_null(git->branch)},
          {"dirty", bool_or_null(git->dirty)},
          {"unknown", text_or_null(git->unknown)},
          {"worktree", text_or_null(git->worktree.string())}};
}

std::optional<GitState> git_of(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  GitState git;
  take_member(json, "commit", git.commit);
  take_member(json, "branch", git.branch);
  take_member(json, "unknown", git.unknown);
  std::string worktree;
  take_member(json, "worktree", worktree);
  git.worktree = worktree;
  const Json& dirty = at(json, "dirty");
  if (dirty.is_boolean()) git.dirty = dirty.get<bool>();
  return git;
}

Json series_json(const std::optional<PowerSeries>& series) {
  if (!series) return nullptr;
  Json domains = Json::array();
  for (std::size_t d = 0; d < series->domains().size(); ++d) {
    Json lowest = Json::array();
    Json mean = Json::array();
    Json highest = Json::array();
    for (std::size_t i = 0; i < series->bins(); ++i) {
      const auto bin = series->bin(d, i);
      const auto milliwatts = [](Watts power) { return std::round(power.si() * 1e3) / 1e3; };
      lowest.push_back(bin ? Json(milliwatts(bin->lowest)) : Json(nullptr));
      mean.push_back(bin ? Json(milliwatts(bin->mean)) : Json(nullptr));
      highest.push_back(bin ? Json(milliwatts(bin->highest)) : Json(nullptr));
    }
    domains.push_back({{"name", series->domains()[d]},
                       {"lowest_w", std::move(lowest)},
                       {"mean_w", std::move(mean)},
                       {"highest_w", std::move(highest)}});
  }
  return {{"bin_s", whole_nanoseconds(series->bin_length())}, {"domains", std::move(domains)}};
}

std::optional<Watts> watts_at(const Json& list, std::size_t place) {
  if (!list.is_array() || place >= list.size() || !list[place].is_number()) return std::nullopt;
  constexpr double kMost = 1e9;  // no machine has more
  const auto watts = list[place].get<double>();
  return std::abs(watts) <= kMost ? std::optional(Watts(watts)) : std::nullopt;
}

std::optional<PowerSeries> series_of(const Json& json) {
  const Json& domains = at(json, "domains");
  const Json& length = at(json, "bin_s");
  constexpr double kLongest = 1e5;
  if (!domains.is_array() || domains.empty() || !length.is_number()) return std::nullopt;
  if (length.get<double>() <= 0.0 || length.get<double>() >= kLongest) return std::nullopt;
  const Json& first = at(domains.front(), "mean_w");
  const std::size_t count = std::min(first.is_array() ? first.size() : 0, PowerSeries::kMostBins);
  std::vector<std::string> names;
  std::vector<std::vector<std::optional<PowerBin>>> bins(count);
  for (const Json& domain : domains) {
    take_member(domain, "name", names.emplace_back());
    for (std::size_t i = 0; i < count; ++i) {
      const auto lowest = watts_at(at(domain, "lowest_w"), i);
      const auto mean = watts_at(at(domain, "mean_w"), i);
      const auto highest = watts_at(at(domain, "highest_w"), i);
      const bool is_known = lowest && mean && highest;
      bins[i].push_back(is_known ? std::optional(PowerBin{*lowest, *mean, *highest})
                                 : std::nullopt);
    }
  }
  return PowerSeries::of_bins(Seconds(length.get<double>()), std::move(names), bins);
}

Json tags_json(const Tags& tags) {
  Json json = Json::object();
  for (const auto& [key, value] : tags) json[key] = value;
  return json;
}

}  // namespace

std::string saved_run_line(const SavedRun& run) {
  const Json json = {{"schema", kSavedRunSchema},   {"id", text_or_null(run.id)},
                     {"tags", tags_json(run.tags)}, {"directory", text_or_null(run.directory)},
                     {"git", git_json(run.git)},    {"series", series_json(run.series)}};
  // The record stays as it was written.
  std::string line = dumped(json);
  line.back() = ',';
  return line + "\"record\":" + run.record + "}";
}

SavedRun parse_saved_run(std::string_view line, const std::string& name) {
  const Json json = parse_record(line, name);
  const std::string schema = schema_of(json);
  // What follows is in the words of this file alone where the record is wrong.
  if (schema != kSavedRunSchema) {
    (void)parse_run_record(line, name);
    return {.id = {}, .record = dumped(json)};
  }
  SavedRun run;
  take_member(json, "id", run.id);
  take_member(json, "directory", run.directory);
  for (const auto& [key, value] : at(json, "tags").items()) {
    if (!key.empty() && value.is_string()) run.tags.emplace(key, value.get<std::string>());
  }
  run.git = git_of(at(json, "git"));
  run.series = series_of(at(json, "series"));
  run.record = dumped(at(json, "record"));
  (void)parse_run_record(run.record, name);
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
          {"cpu_s", or_null(run.cpu_s)},
          {"peak_rss_bytes", or_null(run.peak_rss_bytes)},
          {"git_commit", text_or_null(run.git_commit)},
          {"git_dirty", bool_or_null(run.git_dirty)},
          {"tags", tags_json(run.tags)}};
}

}  // namespace wattle
