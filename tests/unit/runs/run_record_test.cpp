#include "runs/run_record.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

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

RunRecord record_of(const Report& report) { return parse_run_record(to_json(report), "run.json"); }

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

TEST(RunRecord, HoldsWhatTheReportHeld) {
  const Report report = measured();
  const RunRecord record = record_of(report);
  EXPECT_EQ(record.command, report.command);
  EXPECT_EQ(record.exit.code, report.exit.code);
  EXPECT_DOUBLE_EQ(record.wall.count(), report.wall.count());
  EXPECT_DOUBLE_EQ(record.started_unix_s, report.started_unix_s);
  EXPECT_EQ(record.host.name, report.host.name);
  EXPECT_EQ(record.host.cpu, report.host.cpu);
  ASSERT_TRUE(record.energy.total);
  EXPECT_DOUBLE_EQ(record.energy.total->si(), report.energy.total.energy->si());
  EXPECT_NEAR(record.energy.uncertainty->si(), report.energy.total.uncertainty.si(), 0.05);
  EXPECT_EQ(record.energy.covers, report.energy.total.covers);
  ASSERT_THAT(record.energy.domains, SizeIs(report.energy.domains.size()));
  EXPECT_EQ(record.energy.domains.front().name, report.energy.domains.front().domain.name());
  EXPECT_DOUBLE_EQ(record.cpu()->count(),
                   (*report.usage.cpu_user + *report.usage.cpu_system).count());
  EXPECT_EQ(record.peak_rss_bytes, report.usage.peak_rss_bytes);
}

TEST(RunRecord, HoldsTheOutermostPhasesInTheirOrder) {
  Report report = without_sensors();
  report.phases.rows = {
      {.name = "warm", .time = Seconds(1), .spans = {{Seconds(2), Seconds(3)}}},
      {.name = "within", .parent = 0, .time = Seconds(1), .spans = {{Seconds(2), Seconds(3)}}},
      {.name = "load",
       .time = Seconds(1.5),
       .spans = {{Seconds(0), Seconds(1)}, {Seconds(4), Seconds(4.5)}}}};
  std::string text;
  for (const RecordedPhase& phase : record_of(report).phases) {
    text += fmt::format("{} {}..{} ", phase.name, phase.span.begin.count(), phase.span.end.count());
  }
  EXPECT_EQ(text, "load 0..1 warm 2..3 load 4..4.5 ");
}

TEST(RunRecord, LeavesOutSpansThatAreNone) {
  Json json = Json::parse(to_json(without_sensors()));
  json["phases"]["rows"] = Json::parse(
      R"([{"name": "a", "spans": [[2, 1], [-1, 1], [1], "x", null, [1, "2"], [1, 2]]}, 7, null,
          {"spans": 5}, {"name": 5, "spans": [[3, 4]]}])");
  EXPECT_THAT(parse_run_record(json.dump(), "run.json").phases, SizeIs(2));
}

TEST(RunRecord, KeepsWhatIsUnknownUnknown) {
  const RunRecord record = record_of(without_sensors());
  EXPECT_FALSE(record.energy.total);
  EXPECT_FALSE(record.energy.uncertainty);
  EXPECT_THAT(record.energy.domains, IsEmpty());
  ASSERT_FALSE(record.energy.missing.empty());
  EXPECT_EQ(record.energy.missing.front().subject, "cpu");
  EXPECT_FALSE(record.energy.missing.front().reason.empty());
}

TEST(RunRecord, KnowsHowTheCommandEnded) {
  const RunRecord by_signal = record_of(killed());
  EXPECT_FALSE(by_signal.exit.code);
  EXPECT_EQ(by_signal.exit.signal, 11);
  EXPECT_FALSE(record_of(not_started()).exit.started);
}

TEST(RunRecord, KnowsWhyEnergyWasLeftOut) {
  EXPECT_THAT(record_of(of_another_rank()).energy.left_out, HasSubstr("local rank"));
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
  EXPECT_EQ(error_with([](Json&) {}), "no error");
}

TEST(RunRecord, OfAnotherKindOfValueIsUnknown) {
  const RunRecord record = parse_run_record(
      R"({"schema":"wattle.run/2","command":[1,"a"],"exit":{"code":18446744073709551615,)"
      R"("signal":1e300},"wall_s":1,"host":{"gpus":[3]},)"
      R"("energy":{"total_j":"many","domains":{"a":1},"total_missing":7},)"
      R"("resource_usage":{"peak_rss_bytes":-1,"cpu_user_s":null}})",
      "run.json");
  EXPECT_THAT(record.command, ElementsAre("a"));
  EXPECT_THAT(record.host.gpus, IsEmpty());
  EXPECT_THAT(record.energy.domains, IsEmpty());
  EXPECT_THAT(record.energy.missing, IsEmpty());
  EXPECT_FALSE(record.exit.code);
  EXPECT_FALSE(record.exit.signal);
  EXPECT_FALSE(record.energy.total);
  EXPECT_FALSE(record.peak_rss_bytes);
  EXPECT_FALSE(record.cpu());
}

TEST(RunRecord, HoldsTheUnits) {
  const Report report = with_units();
  const RunRecord record = record_of(report);
  ASSERT_TRUE(record.units);
  const Json written = Json::parse(report.units->to_json());
  Json read = Json::parse(record.units->to_json());
  EXPECT_EQ(read["tags"][2]["tag"], R"(<script>\x1b[2J)") << "printable";
  EXPECT_EQ(read["contrasts"][0]["second"], R"(<script>\x1b[2J)");
  read["tags"][2]["tag"] = written["tags"][2]["tag"];
  read["contrasts"][0]["second"] = written["contrasts"][0]["second"];
  EXPECT_EQ(read, written);
  EXPECT_FALSE(record_of(measured()).units);
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
  const RecordedHost host = record_of(measured()).host;
  RecordedHost restarted = host;
  restarted.boot_id = "another";
  EXPECT_TRUE(host.is_same_machine(restarted));
  RecordedHost other = host;
  other.cpu = "another";
  EXPECT_FALSE(host.is_same_machine(other));
}

}  // namespace
}  // namespace wattle
