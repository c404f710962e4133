#include "runs/run_record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/text/text.hpp"
#include "base/text/text_style.hpp"
#include "runs/compared_jobs.hpp"
#include "runs/run_cost.hpp"
#include "sample_reports.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace)
using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Report read_back(const Report& report) { return parse_run_record(to_json(report), "run.json"); }

/// The sentence of the `FormatError` that reading `text` gives.
std::string error_of(const std::string& text) {
  try {
    (void)parse_run_records(text, "runs.jsonl");
  } catch (const FormatError& error) {
    EXPECT_EQ(error.path().substr(0, 10), "runs.jsonl");
    return error.what();
  }
  return "no error";
}

TEST(RunRecord, HoldsAllThatWasWritten) {
  for (const Report& report :
       {measured(), without_sensors(), estimated(), shared(), killed(), not_started(),
        of_another_rank(), still_running(), with_unknown_stretches(), on_gpus(3, 1)}) {
    EXPECT_EQ(to_json(read_back(report)), to_json(report));
  }
}

TEST(RunRecord, HoldsTheCoresOfOtherPrograms) {
  const RunCost measured_cost = cost_of(measured());
  const RunCost read = cost_of(read_back(measured()));
  ASSERT_TRUE(measured_cost.other_cores);
  EXPECT_EQ(read.other_cores, measured_cost.other_cores);
  EXPECT_EQ(read.energy_flags, measured_cost.energy_flags);
  EXPECT_EQ(read.energy_domains, measured_cost.energy_domains);
}

TEST(RunRecord, HoldsThePhases) {
  Report report = measured();
  report.phases.rows = {
      {.name = "warm", .time = Seconds(1), .spans = {{Seconds(2), Seconds(3)}}},
      {.name = "within", .parent = 0, .depth = 1, .spans = {{Seconds(2), Seconds(2.5)}}},
      {.name = "load",
       .time = Seconds(1.5),
       .domains = report.energy.domains,
       .total = total_of(report.energy.domains, {}),
       .cpu = Seconds(0.5),
       .spans = {{Seconds(0), Seconds(1)}, {Seconds(4), Seconds(4.5)}}}};
  const Report read = read_back(report);
  EXPECT_EQ(to_json(read), to_json(report));
  EXPECT_EQ(to_text(read.phases, {}), to_text(report.phases, {}));
  ASSERT_THAT(read.phases.rows, SizeIs(3));
  EXPECT_EQ(read.phases.rows[1].depth, 1U);
}

TEST(RunRecord, LeavesOutSpansThatAreNone) {
  Json json = Json::parse(to_json(without_sensors()));
  json["phases"]["rows"] = Json::parse(
      R"([{"name": "a", "spans": [[2, 1], [-1, 1], [1], "x", null, [1, "2"], [1, 2]]}, 7, null,
          {"spans": 5}, {"name": 5, "spans": [[3, 4]]}])");
  std::size_t spans = 0;
  for (const PhaseReport& phase : parse_run_record(json.dump(), "run.json").phases.rows) {
    spans += phase.spans.size();
  }
  EXPECT_EQ(spans, 2U);
}

TEST(RunRecord, HasNoParentThatComesAfterItsChild) {
  Json json = Json::parse(to_json(without_sensors()));
  json["phases"]["rows"] = Json::parse(
      R"([{"name": "a", "parent": 0}, {"name": "b", "parent": 2}, {"name": "c", "parent": 1}])");
  const auto rows = parse_run_record(json.dump(), "run.json").phases.rows;
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_FALSE(rows[0].parent);
  EXPECT_FALSE(rows[1].parent);
  EXPECT_EQ(rows[2].depth, 1U);
}

TEST(RunRecord, ReadsNoMorePhasesThanARunHas) {
  Json json = Json::parse(to_json(without_sensors()));
  for (int i = 0; i < 3000; ++i) {
    json["phases"]["rows"].push_back({{"name", "a"}, {"parent", i - 1}});
  }
  EXPECT_THAT(parse_run_record(json.dump(), "run.json").phases.rows,
              SizeIs(PhasesReport::kMostRows));
}

TEST(RunRecord, OfAnOldVersionMayBeWrongTheSameWayAgain) {
  Json json = Json::parse(to_json(measured()));
  json["energy"].erase("total_common_j");
  json["energy"]["domains"][0].erase("common_j");
  const EnergyReport energy = parse_run_record(json.dump(), "run.json").energy;
  EXPECT_GT(energy.total.uncertainty, Joules(0.0));
  EXPECT_EQ(energy.total.common, energy.total.uncertainty);
  EXPECT_EQ(energy.domains[0].figure.common, energy.domains[0].figure.uncertainty);
}

TEST(RunRecord, OfTheFirstSchemaHasHints) {
  Json json = Json::parse(to_json(without_sensors()));
  json["schema"] = "wattle.run/1";
  json["refused"][0]["hint"] = "ask";
  json["refused"][0].erase("remedy");
  const Report read = parse_run_record(json.dump(), "run.json");
  ASSERT_THAT(read.refused, SizeIs(1));
  EXPECT_EQ(read.refused[0].remedy, "ask");
}

TEST(RunRecord, HasPrintableTextsAlone) {
  const std::string foreign = "\x1b[2J<script>";
  const std::string shown = printable(foreign);
  Json json = Json::parse(to_json(on_gpus(2, 1)));
  json["command"] = {foreign};
  json["host"]["name"] = foreign;
  json["host"]["gpus"][0]["model"] = foreign;
  json["exit"]["error"] = foreign;
  json["slurm"] = {{"job_id", foreign}};
  json["energy"]["total_covers"] = {foreign};
  json["energy"]["domains"][0]["source"] = foreign;
  json["phases"]["rows"] = {{{"name", foreign}}};
  json["refused"] = {{{"reason", foreign}}};
  json["resource_usage"]["still_running"] = {{{"pid", 1}, {"name", foreign}}};
  const Report read = parse_run_record(json.dump(), "run.json");
  EXPECT_THAT(read.command, ElementsAre(foreign)) << "shell_line makes it printable";
  EXPECT_EQ(read.host.name, shown);
  EXPECT_EQ(read.host.gpus.value().front().info.model, shown);
  EXPECT_EQ(read.exit.error, shown);
  EXPECT_EQ(read.slurm.value().job_id, shown);
  EXPECT_THAT(read.energy.total.covers, ElementsAre(shown));
  EXPECT_EQ(read.energy.domains.front().source, shown);
  EXPECT_EQ(read.phases.rows.front().name, shown);
  EXPECT_EQ(read.refused.front().reason, shown);
  EXPECT_EQ(read.usage.still_running.value().front().name, shown);
}

TEST(RunRecord, LeavesOutDomainsThatAreNone) {
  Json json = Json::parse(to_json(measured()));
  const std::size_t domains = json["energy"]["domains"].size();
  json["energy"]["domains"].push_back({{"name", "<script>"}, {"energy_j", 5.0}});
  json["energy"]["domains"].push_back({{"energy_j", 5.0}});
  EXPECT_THAT(parse_run_record(json.dump(), "run.json").energy.domains, SizeIs(domains));
  for (int i = 0; i < 3000; ++i) json["energy"]["domains"].push_back({{"name", "package_0"}});
  EXPECT_THAT(parse_run_record(json.dump(), "run.json").energy.domains, SizeIs(1024));
}

TEST(RunRecord, KeepsWhatIsUnknownUnknown) {
  const Report read = read_back(without_sensors());
  EXPECT_FALSE(read.energy.total.energy);
  EXPECT_FALSE(cost_of(read).uncertainty);
  EXPECT_THAT(read.energy.domains, IsEmpty());
  ASSERT_FALSE(read.energy.total.missing.empty());
  EXPECT_EQ(read.energy.total.missing.front().subject, "cpu");
  EXPECT_FALSE(read.energy.total.missing.front().reason.empty());
}

TEST(RunRecord, KnowsWhyEnergyWasLeftOut) {
  EXPECT_THAT(read_back(of_another_rank()).energy.left_out, HasSubstr("local rank"));
}

TEST(RunRecord, ReadsLinesAndOneValueOverManyLines) {
  const std::string line = to_json(measured());
  EXPECT_THAT(parse_run_records(line + "\n" + line, "two.jsonl"), SizeIs(2));
  std::string pretty = line;
  for (std::size_t i = 0; (i = pretty.find(",\"", i)) != std::string::npos; i += 2) {
    pretty.replace(i, 1, ",\n");
  }
  EXPECT_THAT(parse_run_records(pretty, "pretty.json"), SizeIs(1));
}

TEST(RunRecord, SaysWhatIsWrongWithAFile) {
  const std::string line = to_json(measured());
  EXPECT_EQ(error_of(""), "cannot read runs.jsonl: it is empty");
  EXPECT_EQ(error_of("wall,energy\n1,2\n"),
            "cannot read runs.jsonl: it is not JSON; it starts with \"wall,energy\\x0a1,2\\x0a\"");
  EXPECT_EQ(error_of(line.substr(0, line.size() / 2)),
            "cannot read runs.jsonl: its JSON is cut off or damaged");
  EXPECT_EQ(error_of(line + line.substr(0, 100)),
            "cannot read runs.jsonl, line 2: its JSON is cut off or damaged");
  EXPECT_EQ(error_of("{}"), "cannot read runs.jsonl: it names no schema; expected wattle.run/2");
  EXPECT_EQ(error_of(R"({"schema":"wattle.power/1"})"),
            "cannot read runs.jsonl: it has the schema wattle.power/1; expected wattle.run/2");
  EXPECT_EQ(error_of(R"({"schema":"wattle.run/3"})"),
            "cannot read runs.jsonl: it has the schema wattle.run/3, and this wattle reads "
            "wattle.run/2; use the wattle that wrote it, or a newer one");
  EXPECT_EQ(error_of(R"({"schema":"wattle.run/2"})"),
            "cannot read runs.jsonl: it lacks keys that each wattle.run/2 has; it is damaged or "
            "was edited");
}

TEST(RunRecord, RefusesValuesThatNoRunHas) {
  const auto error_with = [](const std::function<void(Json&)>& change) {
    Json json = Json::parse(to_json(measured()));
    change(json);
    return error_of(json.dump());
  };
  const auto is_refused = HasSubstr("no run has its wall_s or total_j");
  EXPECT_THAT(error_with([](Json& json) { json["wall_s"] = 1e300; }), is_refused);
  EXPECT_THAT(error_with([](Json& json) { json["wall_s"] = -1.0; }), is_refused);
  EXPECT_THAT(error_with([](Json& json) { json["energy"]["total_j"] = -5.0; }), is_refused);
  EXPECT_THAT(error_with([](Json& json) {
                json["phases"]["rows"] = {{{"name", "a"}, {"total_j", 1e300}}};
              }),
              is_refused);
  EXPECT_THAT(error_with([](Json& json) { json["resource_usage"]["cpu_user_s"] = -1.0; }),
              HasSubstr("no run has its cpu_user_s; it is damaged or was edited"));
  EXPECT_THAT(error_with([](Json& json) { json["resource_usage"]["cpu_system_s"] = 1e308; }),
              HasSubstr("no run has its cpu_system_s"));
  EXPECT_THAT(error_with([](Json& json) { json["ended_unix_s"] = 1e308; }),
              HasSubstr("no run has its ended_unix_s"));
  EXPECT_THAT(error_with([](Json& json) { json["energy"]["total_mean_w"] = 1e300; }),
              HasSubstr("no run has its total_mean_w"));
  EXPECT_EQ(error_with([](Json&) {}), "no error");
}

TEST(RunRecord, OfAnotherKindOfValueIsUnknown) {
  const Report record = parse_run_record(
      R"({"schema":"wattle.run/2","command":[1,"a"],"exit":{"code":18446744073709551615,)"
      R"("signal":1e300},"wall_s":1,"host":{"gpus":[3]},"share":{"measured_j":"x","gpus":7},)"
      R"("energy":{"total_j":"many","domains":{"a":1},"total_missing":7},"estimate":[],)"
      R"("resource_usage":{"peak_rss_bytes":-1,"cpu_user_s":null}})",
      "run.json");
  EXPECT_THAT(record.command, ElementsAre("a"));
  EXPECT_THAT(record.host.gpus.value(), IsEmpty());
  EXPECT_THAT(record.energy.domains, IsEmpty());
  EXPECT_THAT(record.energy.total.missing, IsEmpty());
  EXPECT_FALSE(record.exit.code);
  EXPECT_FALSE(record.exit.signal);
  EXPECT_FALSE(record.energy.total.energy);
  EXPECT_FALSE(record.usage.peak_rss_bytes);
  EXPECT_FALSE(record.usage.cpu_user);
  EXPECT_FALSE(record.estimate);
  EXPECT_FALSE(record.share.value().balance);
}

TEST(RunRecord, HoldsTheUnits) {
  const Report report = with_units();
  const Report record = read_back(report);
  ASSERT_TRUE(record.units);
  const Json written = Json::parse(report.units->to_json());
  Json read = Json::parse(record.units->to_json());
  EXPECT_EQ(read["tags"][2]["tag"], R"(<script>\x1b[2J)") << "printable";
  EXPECT_EQ(read["contrasts"][0]["second"], R"(<script>\x1b[2J)");
  read["tags"][2]["tag"] = written["tags"][2]["tag"];
  read["contrasts"][0]["second"] = written["contrasts"][0]["second"];
  EXPECT_EQ(read, written);
  EXPECT_FALSE(read_back(measured()).units);
}

/// The units of a record some of whose JSON was changed.
UnitsReport units_with(const std::function<void(Json&)>& change) {
  Json json = Json::parse(to_json(with_units()));
  change(json["units"]);
  return parse_run_record(json.dump(), "run.json").units.value();
}

TEST(RunRecord, LeavesOutUnitsThatNoRunHas) {
  const std::vector<std::pair<const char*, Json>> impossible = {
      {"sum_j", 1e300},
      {"sum_j", nullptr},  // does not go with the mean
      {"work", -1.0},
      {"count", 18446744073709551615U},
      {"mean_time_s", -5.0},
      {"mean_j", Json::parse("[1.0, 2.0, 3.0]")},
      {"p99_j", Json::parse("[1e200, 1e200, 1e200]")},
      {"distribution", Json::parse(R"({"none":0,"from_j":-1.0,"ratio":2.0,"counts":[1]})")},
      {"distribution", Json::parse(R"({"none":0,"from_j":1.0,"ratio":0.5,"counts":[1]})")},
      {"by_work", Json::parse("[[1e300, 1, 1.0]]")}};
  for (const auto& [key, value] : impossible) {
    const UnitsReport units = units_with([&](Json& json) { json["tags"][0][key] = value; });
    EXPECT_THAT(units.tags, SizeIs(2)) << key;
  }
  EXPECT_THAT(units_with([](Json& json) { json["domains"][0]["idle_w"] = 1e300; }).domains,
              IsEmpty());
  EXPECT_THAT(units_with([](Json& json) { json["domains"][0].erase("measured_j"); }).domains,
              IsEmpty())
      << "parts of nothing";
  EXPECT_THAT(units_with([](Json& json) {
                json["domains"] = {{{"domain", "package_0"}}};
              }).domains,
              IsEmpty())
      << "nothing is measured";
  EXPECT_THAT(units_with([](Json& json) {
                json["tags"] = {{{"tag", "a"}, {"count", 9}}};
              }).tags,
              IsEmpty())
      << "the energy of 9 units is not 0";
  EXPECT_THAT(units_with([](Json& json) { json["contrasts"][0]["first"] = 7; }).contrasts,
              IsEmpty());
}

TEST(RunRecord, ReadsUnitsOfAnotherKindOfValue) {
  const UnitsReport units = units_with([](Json& json) {
    json["tags"] = {1, {{"tag", 3}, {"mean_j", "x"}, {"distribution", {1}}, {"by_work", {1, {2}}}}};
    json["domains"] = "none";
    json["running"] = -1;
  });
  ASSERT_THAT(units.tags, SizeIs(1));
  EXPECT_EQ(units.tags[0].tag, "");
  EXPECT_FALSE(units.tags[0].mean);
  EXPECT_THAT(units.tags[0].by_work, IsEmpty());
  EXPECT_THAT(units.domains, IsEmpty());
  EXPECT_EQ(units.running, 0U);
}

TEST(RunRecord, ReadsNoMoreUnitsThanARunHas) {
  const UnitsReport units = units_with([](Json& json) {
    const Json tag = json["tags"][0];
    json["tags"] = Json::array();
    for (int i = 0; i < 5000; ++i) json["tags"].push_back(tag);
    for (int i = 0; i < 100; ++i) json["tags"][0]["distribution"]["counts"].push_back(1);
  });
  EXPECT_THAT(units.tags, SizeIs(4097));
  EXPECT_THAT(units.tags[0].distribution.counts, IsEmpty());
}

TEST(RunRecord, KnowsTheSameMachine) {
  const Host host = read_back(on_gpus(2, 1)).host;
  Host restarted = host;
  restarted.boot_id = "another";
  EXPECT_TRUE(is_same_machine(host, restarted));
  Host other = host;
  other.cpu = "another";
  EXPECT_FALSE(is_same_machine(host, other));
  Host fewer = host;
  fewer.gpus->pop_back();
  EXPECT_FALSE(has_same_models(host, fewer));
}

}  // namespace
}  // namespace wattle
