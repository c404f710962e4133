#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "golden.hpp"
#include "report/report.hpp"
#include "sample_reports.hpp"
#include "wattle/wattle.hpp"

namespace wattle {
namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace)
using Json = nlohmann::ordered_json;
using testing::ElementsAre;

/// Goldens do not change with every release.
std::string without_version(std::string text) {
  const std::string version_key = "\"wattle_version\":\"";
  const std::size_t begin = text.find(version_key) + version_key.size();
  EXPECT_EQ(text.substr(begin, version().size()), version());
  return text.replace(begin, version().size(), "VERSION");
}

TEST(ReportJson, HasThePhases) {
  Report report = measured();
  PhaseReport phase{.name = "load", .parent = 0, .time = Seconds(0.5)};
  phase.domains = report.energy.domains;
  phase.total = report.energy.total;
  phase.spans = {{Seconds(0.25), Seconds(0.75)}};
  phase.unknown = "why";
  report.phases = {.rows = {phase}, .marks = 2, .unavailable = "no socket"};
  const Json phases = Json::parse(to_json(report))["phases"];
  EXPECT_EQ(phases["marks"], 2);
  EXPECT_EQ(phases["unavailable"], "no socket");
  const Json& row = phases["rows"][0];
  EXPECT_EQ(row["name"], "load");
  EXPECT_EQ(row["parent"], 0);
  EXPECT_EQ(row["time_s"], 0.5);
  EXPECT_EQ(row["total_j"], report.energy.total.energy->si());
  EXPECT_EQ(row["domains"].size(), report.energy.domains.size());
  EXPECT_EQ(row["cpu_s"], nullptr);
  EXPECT_EQ(row["unknown"], "why");
  EXPECT_EQ(row["spans"], (Json{{0.25, 0.75}}));
}

void expect_golden_json(const std::string& name, const Report& report) {
  expect_golden(name, without_version(to_json(report)));
}

TEST(ReportJson, HasTheUnits) {
  const Json units = Json::parse(to_json(with_units()))["units"];
  EXPECT_EQ(units["running"], 1);
  EXPECT_EQ(units["ended_twice"], 0);
  const Json& tag = units["tags"][0];
  EXPECT_EQ(tag["tag"], "request");
  EXPECT_EQ(tag["phase"], nullptr);
  EXPECT_EQ(tag["mean_j"], Json::parse("[1.25, 1.125, 1.375]"));
  EXPECT_EQ(tag["distribution"],
            Json::parse(R"({"none":20,"from_j":0.5,"ratio":2.0,"counts":[80,90,10]})"));
  EXPECT_EQ(tag["by_running"], Json::parse("[[1.0, 50, 2.0], [3.5, 150, 1.0]]"));
  EXPECT_EQ(units["tags"][1]["phase"], "decode");
  EXPECT_EQ(units["tags"][1]["distribution"], nullptr);
  const Json& domain = units["domains"][0];
  EXPECT_EQ(domain["running_j"], 7.0);
  EXPECT_EQ(domain["idle_w"], 35.0);
  EXPECT_EQ(domain["slope_w"], nullptr);
  EXPECT_EQ(units["contrasts"][0]["ratio"], 2.0);
}

TEST(ReportJson, WithEnergy) { expect_golden_json("measured.json", measured()); }

TEST(ReportJson, WithoutSensors) { expect_golden_json("without_sensors.json", without_sensors()); }

TEST(ReportJson, WithAnEstimate) { expect_golden_json("estimated.json", estimated()); }

TEST(ReportJson, WithAShare) { expect_golden_json("shared.json", shared()); }

TEST(ReportJson, WithUnknownStretches) {
  expect_golden_json("with_unknown_stretches.json", with_unknown_stretches());
}

TEST(ReportJson, OfACommandThatWasKilled) { expect_golden_json("killed.json", killed()); }

TEST(ReportJson, OfACommandThatLeftProcesses) {
  expect_golden_json("still_running.json", still_running());
}

TEST(ReportJson, WithForeignText) {
  expect_golden_json("with_foreign_text.json", with_foreign_text());
}

TEST(ReportJson, OfAnotherRank) { expect_golden_json("of_another_rank.json", of_another_rank()); }

TEST(ReportJson, OfACommandThatDidNotStart) {
  expect_golden_json("not_started.json", not_started());
}

TEST(ReportJson, IsOneLine) {
  for (const Report& report : {measured(), with_foreign_text()}) {
    const std::string text = to_json(report);
    EXPECT_EQ(text.find('\n'), text.size() - 1);
    EXPECT_TRUE(Json::accept(text));
  }
}

TEST(ReportJson, HasEitherACodeOrASignal) {
  const Json exited = Json::parse(to_json(measured()))["exit"];
  EXPECT_EQ(exited["code"], 0);
  EXPECT_TRUE(exited["signal"].is_null());
  const Json ended = Json::parse(to_json(killed()))["exit"];
  EXPECT_TRUE(ended["code"].is_null());
  EXPECT_EQ(ended["signal"], 11);
  const Json neither = Json::parse(to_json(not_started()))["exit"];
  EXPECT_TRUE(neither["code"].is_null() && neither["signal"].is_null());
  EXPECT_EQ(neither["started"], false);
}

TEST(ReportJson, HasNullForWhatIsUnknownNeverZero) {
  const Json energy = Json::parse(to_json(without_sensors()))["energy"];
  EXPECT_TRUE(energy["total_j"].is_null());
  EXPECT_TRUE(energy["total_uncertainty_j"].is_null());
  EXPECT_TRUE(energy["total_unknown_s"].is_null());
  const Json failed = Json::parse(to_json(with_unknown_stretches()))["energy"]["domains"][1];
  EXPECT_TRUE(failed["energy_j"].is_null());
  EXPECT_TRUE(failed["uncertainty_j"].is_null());
  EXPECT_EQ(failed["unknown_s"], 2.0);
}

TEST(ReportJson, BeginsResourceUsageWithTheFiveKnownGroups) {
  const Json usage = Json::parse(to_json(measured()))["resource_usage"];
  std::vector<std::string> keys;
  for (const auto& [key, value] : usage.items()) keys.push_back(key);
  keys.resize(5);
  EXPECT_THAT(keys, ElementsAre("max_ram", "max_gpu_ram", "cpu_utilization", "gpu_utilization",
                                "compute_time"));
}

TEST(ReportJson, ReplacesBytesThatAreNotUtf8) {
  const Json report = Json::parse(to_json(with_foreign_text()));
  EXPECT_EQ(report["command"][1], "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(report["command"][2], "größer");
  EXPECT_EQ(report["host"]["name"], "h\xef\xbf\xbdst");
}

TEST(ReportJson, KeepsNumbersWhole) {
  Report report = measured();
  report.usage.peak_rss_bytes = UINT64_MAX;
  report.energy.domains[0].figure.energy = Joules(4294967295.0 / 16384.0);
  const Json json = Json::parse(to_json(report));
  EXPECT_EQ(json["resource_usage"]["peak_rss_bytes"].get<std::uint64_t>(), UINT64_MAX);
  EXPECT_EQ(json["energy"]["domains"][0]["energy_j"].get<double>(), 4294967295.0 / 16384.0);
}

}  // namespace
}  // namespace wattle
