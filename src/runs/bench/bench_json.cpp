#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json/json_read.hpp"
#include "base/text/printable_text.hpp"
#include "report/report_fields.hpp"
#include "runs/bench/bench_record.hpp"
#include "runs/bench/bench_text.hpp"
#include "runs/compared_runs.hpp"
#include "runs/record_text.hpp"
#include "runs/run_record.hpp"
#include "usage/files/usage_json.hpp"
#include "wattle/wattle.hpp"

namespace wattle {

template <>
inline constexpr auto kFields<RunCost> = std::tuple(
    Field("round", &RunCost::round), Field("started_unix_s", &RunCost::started_unix_s),
    Field("wall_s", &RunCost::wall), Field("energy_j", &RunCost::energy),
    Converted(
        "uncertainty_j",
        [](const RunCost& run) {
          return uncertainty_or_null(run.energy, run.uncertainty.value_or(Joules(0.0)));
        },
        [](const nlohmann::ordered_json& json, RunCost& into) { take(json, into.uncertainty); }),
    Converted(
        "common_j",
        [](const RunCost& run) {
          return uncertainty_or_null(run.common, run.common.value_or(Joules(0.0)));
        },
        [](const nlohmann::ordered_json& json, RunCost& into) { take(json, into.common); }),
    Field("energy_domains", &RunCost::energy_domains),
    Converted(
        "energy_unknown_s",
        [](const RunCost& run) {
          return or_null(run.energy ? std::optional(run.energy_unknown) : std::nullopt);
        },
        [](const nlohmann::ordered_json& json, RunCost& into) { take(json, into.energy_unknown); }),
    Field("energy_flags", &RunCost::energy_flags), Field("mean_w", &RunCost::mean_power),
    Field("cpu_user_s", &RunCost::cpu_user), Field("cpu_system_s", &RunCost::cpu_system),
    Field("peak_rss_bytes", &RunCost::peak_rss_bytes), Field("other_cores", &RunCost::other_cores),
    Field("exit_code", &RunCost::code), Field("exit_signal", &RunCost::signal));

namespace {

using Json = nlohmann::ordered_json;

Json summary_json(const std::optional<Summary>& summary) {
  if (!summary) return nullptr;
  return {{"runs", summary->count},
          {"mean", summary->mean},
          {"sd", or_null(summary->sd)},
          {"median", summary->median},
          {"min", summary->min},
          {"max", summary->max},
          {"mean_low", summary->mean95 ? Json(summary->mean95->low) : Json(nullptr)},
          {"mean_high", summary->mean95 ? Json(summary->mean95->high) : Json(nullptr)}};
}

/// One array for each figure, an element for each run.
Json values_json(const std::vector<RunCost>& runs) {
  Json columns = json_of(RunCost{});
  for (Json& column : columns) column = Json::array();
  for (const RunCost& run : runs) {
    const Json values = json_of(run);
    for (const auto& [key, value] : values.items()) columns[key].push_back(value);
  }
  return columns;
}

Json command_json(const BenchCommand& command) {
  Json parameters = Json::object();
  for (const auto& [name, value] : command.parameters) parameters[name] = value;
  Json json = {{"command", command.command},
               {"name", command.name},
               {"parameters", std::move(parameters)},
               {"runs", command.runs.size()}};
  for (const Cost cost : kCosts) {
    json[std::string(key_of(cost))] = summary_json(summary_of(cost, command.runs));
  }
  json["values"] = values_json(command.runs);
  json["estimate"] = json_of(command.estimate);
  return json;
}

Json comparisons_json(const BenchRecord& bench, const std::vector<ReferenceComparison>& found) {
  return json_list(found, [&](const ReferenceComparison& one) {
    return comparison_json(one.comparison, bench.commands[bench.reference].name, one.command->name);
  });
}

Json bench_host_json(const Host& host) {
  const auto gpu_json = [](const GpuUsage& gpu) {
    return Json{{"model", text_or_null(gpu.info.model)}};
  };
  return {{"name", host.name},
          {"boot_id", text_or_null(host.boot_id)},
          {"cpu", text_or_null(host.cpu)},
          {"gpus", json_list(host.gpus.value_or(std::vector<GpuUsage>{}), gpu_json)}};
}

/// The reverse, of as many runs as have a time. Other arrays may be shorter, or missing.
std::vector<RunCost> runs_of(const Json& columns) {
  std::vector<RunCost> runs(at(columns, "wall_s").is_array() ? at(columns, "wall_s").size() : 0);
  const Json known = json_of(RunCost{});
  std::vector<std::pair<std::string, const Json*>> lists;
  for (const auto& [key, none] : known.items()) {
    if (const Json& list = at(columns, key.c_str()); list.is_array())
      lists.emplace_back(key, &list);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Json values = Json::object();
    for (const auto& [key, list] : lists) {
      if (i < list->size()) values[key] = (*list)[i];
    }
    take(values, runs[i]);
  }
  return runs;
}

BenchCommand recorded_command(const Json& json, const std::string& name) {
  BenchCommand command;
  take_member(json, "command", command.command);
  take_member(json, "name", command.name);
  if (const Json& parameters = at(json, "parameters"); parameters.is_object()) {
    for (const auto& [parameter, value] : parameters.items()) {
      take(value, command.parameters.emplace_back(PrintableText(parameter), "").second);
    }
  }
  command.runs = runs_of(at(json, "values"));
  for (const RunCost& run : command.runs) {
    if (!is_possible_time(run.wall)) throw incomplete(name, kBenchSchema);
  }
  return command;
}

}  // namespace

std::string to_json(const BenchRecord& bench) {
  const std::vector<ReferenceComparison> found = comparisons_with_reference(bench, kCosts);
  const bool has_reference = bench.reference < bench.commands.size();
  const Json json = {
      {"schema", kBenchSchema},
      {"wattle_version", version()},
      {"started_unix_s", bench.started_unix_s},
      {"ended_unix_s", bench.ended_unix_s},
      {"host", bench_host_json(bench.host)},
      {"is_interleaved", bench.is_interleaved},
      {"seed", bench.is_interleaved ? Json(bench.seed) : Json(nullptr)},
      {"shell", text_or_null(bench.shell)},
      {"warmup", bench.warmup},
      {"is_interrupted", bench.is_interrupted},
      {"reference", has_reference ? Json(bench.commands[bench.reference].name) : Json(nullptr)},
      {"energy",
       {{"scope", "machine"},
        {"covers", bench.energy_covers},
        {"missing", missing_kinds_json(bench.energy_missing)}}},
      {"results", json_list(bench.commands, command_json)},
      {"comparisons", comparisons_json(bench, found)},
      {"notes", notes_on_claims(bench, found)},
      {"warnings", bench.warnings}};
  return dumped(json) + "\n";
}

BenchRecord parse_bench_record(std::string_view text, const std::string& name) {
  Json json = parse_record(text, name);
  require_schema(json, kBenchSchema, name);
  if (!at(json, "results").is_array() || !at(json, "host").is_object()) {
    throw incomplete(name, kBenchSchema);
  }
  make_printable(json);
  BenchRecord bench;
  take_member(json, "wattle_version", bench.wattle_version);
  take_member(json, "started_unix_s", bench.started_unix_s);
  take_member(json, "ended_unix_s", bench.ended_unix_s);
  take_member(json, "host", bench.host);
  take_member(json, "is_interleaved", bench.is_interleaved);
  take_member(json, "shell", bench.shell);
  take_member(json, "is_interrupted", bench.is_interrupted);
  for (const Json& result : at(json, "results")) {
    bench.commands.push_back(recorded_command(result, name));
  }
  std::string reference;
  take_member(json, "reference", reference);
  for (std::size_t i = 0; i < bench.commands.size(); ++i) {
    if (bench.commands[i].name == reference) bench.reference = i;
  }
  take_member(at(json, "energy"), "covers", bench.energy_covers);
  take_member(json, "warnings", bench.warnings);
  return bench;
}

}  // namespace wattle
