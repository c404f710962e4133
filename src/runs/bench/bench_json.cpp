#include <fmt/format.h>

#include <optional>
#include <vector>

#include "base/json/json_read.hpp"
#include "report/estimate_words.hpp"
#include "runs/bench/bench_record.hpp"
#include "runs/bench/bench_text.hpp"
#include "runs/comparison_json.hpp"
#include "runs/record_text.hpp"
#include "usage/files/usage_json.hpp"
#include "wattle/wattle.hpp"

namespace wattle {
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
  Json json = Json::object();
  const auto add = [&](const char* key, const auto& value) {
    Json& list = json[key] = Json::array();
    for (const RunCost& run : runs) list.push_back(value(run));
  };
  add("round", [](const RunCost& run) { return Json(run.round); });
  add("started_unix_s", [](const RunCost& run) { return Json(run.started_unix_s); });
  add("wall_s", [](const RunCost& run) { return Json(run.wall.count()); });
  add("energy_j", [](const RunCost& run) { return or_null(run.energy); });
  add("uncertainty_j", [](const RunCost& run) {
    return uncertainty_or_null(run.energy, run.uncertainty.value_or(Joules(0.0)));
  });
  add("energy_domains", [](const RunCost& run) { return Json(run.energy_domains); });
  add("energy_unknown_s", [](const RunCost& run) {
    return run.energy ? Json(run.energy_unknown.count()) : Json(nullptr);
  });
  add("energy_flags", [](const RunCost& run) { return Json(run.energy_flags); });
  add("mean_w", [](const RunCost& run) { return or_null(run.mean_power); });
  add("cpu_user_s", [](const RunCost& run) { return or_null(run.cpu_user); });
  add("cpu_system_s", [](const RunCost& run) { return or_null(run.cpu_system); });
  add("peak_rss_bytes", [](const RunCost& run) { return or_null(run.peak_rss_bytes); });
  add("other_cores", [](const RunCost& run) { return or_null(run.other_cores); });
  add("exit_code", [](const RunCost& run) { return or_null(run.code); });
  add("exit_signal", [](const RunCost& run) { return or_null(run.signal); });
  return json;
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
  Json list = Json::array();
  for (const ReferenceComparison& one : found) {
    list.push_back(
        comparison_json(one.comparison, bench.commands[bench.reference].name, one.command->name));
  }
  return list;
}

Json bench_host_json(const RecordedHost& host) {
  Json gpus = Json::array();
  for (const std::string& model : host.gpus) gpus.push_back({{"model", text_or_null(model)}});
  return {{"name", host.name},
          {"boot_id", text_or_null(host.boot_id)},
          {"cpu", text_or_null(host.cpu)},
          {"gpus", std::move(gpus)}};
}

/// The element `i` of the array `key`; null where there is none.
const Json& run_value(const Json& values, const char* key, std::size_t i) {
  const Json& list = at(values, key);
  static const Json none;
  return list.is_array() && i < list.size() ? list[i] : none;
}

RunCost run_at(const Json& values, std::size_t i) {
  RunCost run;
  std::optional<std::uint64_t> round;
  take(run_value(values, "round", i), round);
  run.round = round.value_or(0);
  take(run_value(values, "started_unix_s", i), run.started_unix_s);
  take(run_value(values, "wall_s", i), run.wall);
  take(run_value(values, "energy_j", i), run.energy);
  take(run_value(values, "uncertainty_j", i), run.uncertainty);
  run.energy_domains = printable_words(run_value(values, "energy_domains", i));
  take(run_value(values, "energy_unknown_s", i), run.energy_unknown);
  take(run_value(values, "energy_flags", i), run.energy_flags);
  take(run_value(values, "mean_w", i), run.mean_power);
  take(run_value(values, "cpu_user_s", i), run.cpu_user);
  take(run_value(values, "cpu_system_s", i), run.cpu_system);
  take(run_value(values, "peak_rss_bytes", i), run.peak_rss_bytes);
  take(run_value(values, "other_cores", i), run.other_cores);
  take(run_value(values, "exit_code", i), run.code);
  take(run_value(values, "exit_signal", i), run.signal);
  return run;
}

/// Made printable: the record is somebody else's.
PrintableText text_in(const Json& json, const char* key) {
  PrintableText text;
  take_member(json, key, text);
  return text;
}

BenchCommand recorded_command(const Json& json, const std::string& name) {
  BenchCommand command;
  command.command = text_in(json, "command");
  command.name = text_in(json, "name");
  if (const Json& parameters = at(json, "parameters"); parameters.is_object()) {
    for (const auto& [parameter, value] : parameters.items()) {
      PrintableText shown;
      take(value, shown);
      command.parameters.emplace_back(PrintableText(parameter), shown);
    }
  }
  const Json& values = at(json, "values");
  const std::size_t runs = at(values, "wall_s").is_array() ? at(values, "wall_s").size() : 0;
  for (std::size_t i = 0; i < runs; ++i) {
    command.runs.push_back(run_at(values, i));
    if (!is_possible_time(command.runs.back().wall)) throw incomplete(name, kBenchSchema);
  }
  return command;
}

}  // namespace

std::string to_json(const BenchRecord& bench) {
  Json results = Json::array();
  for (const BenchCommand& command : bench.commands) results.push_back(command_json(command));
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
      {"results", std::move(results)},
      {"comparisons", comparisons_json(bench, found)},
      {"notes", notes_on_claims(bench, found)},
      {"warnings", bench.warnings}};
  return dumped(json) + "\n";
}

BenchRecord parse_bench_record(std::string_view text, const std::string& name) {
  const Json json = parse_record(text, name);
  require_schema(json, kBenchSchema, name);
  if (!at(json, "results").is_array() || !at(json, "host").is_object()) {
    throw incomplete(name, kBenchSchema);
  }
  BenchRecord bench;
  bench.wattle_version = text_in(json, "wattle_version");
  take_member(json, "started_unix_s", bench.started_unix_s);
  take_member(json, "ended_unix_s", bench.ended_unix_s);
  bench.host = recorded_host(at(json, "host"));
  take_member(json, "is_interleaved", bench.is_interleaved);
  bench.shell = text_in(json, "shell");
  take_member(json, "is_interrupted", bench.is_interrupted);
  for (const Json& result : at(json, "results")) {
    bench.commands.push_back(recorded_command(result, name));
  }
  const std::string reference = text_in(json, "reference");
  for (std::size_t i = 0; i < bench.commands.size(); ++i) {
    if (bench.commands[i].name == reference) bench.reference = i;
  }
  bench.energy_covers = printable_words(at(at(json, "energy"), "covers"));
  bench.warnings = printable_words(at(json, "warnings"));
  return bench;
}

}  // namespace wattle
