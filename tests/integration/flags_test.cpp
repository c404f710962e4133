// A sensor that sees a part of the time says so wherever its energy is printed.
#include <csignal>
#include <string>
#include <string_view>

#include "command.hpp"
#include "fakes/nvml/control.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;

constexpr const char* kPartialGauge =
    "gpu Tesla M40 24GB\nuuid GPU-a\ncounter none\ninstant none\naverage none\n"
    "power step 0 150\n";

/// A machine with one sensor: the gauge of an M40, which sees 14 of 31 ms.
class PartialGauge : public CommandTest {
 protected:
  [[nodiscard]] Start start(const Words& words) const {
    Start start = wattle(words);
    start.environment = {{"WATTLE_FAKE_NVML", gpu_.script_path()},
                         {"WATTLE_NVML_LIBRARY", gpu_.library_path()},
                         {"WATTLE_SYSFS", path("nothing").string()},
                         {"WATTLE_SOCK_PATH", "none"},
                         {"WATTLE_HISTORY", path("history.db").string()}};
    return start;
  }
  /// All that it prints; ends it with Ctrl-C once it has printed `until`, if that is not empty.
  [[nodiscard]] std::string output_of(const Words& words, std::string_view until = "") const {
    Process process(start(words));
    if (!until.empty()) {
      EXPECT_TRUE(process.prints(until)) << until;
      process.send(SIGINT);
    }
    const Outcome outcome = process.wait();
    return outcome.out + outcome.err;
  }
  [[nodiscard]] std::string file(const char* name) const { return path(name).string(); }

 private:
  fakes::FakeNvml gpu_{kPartialGauge};
};

constexpr const char* kFlag = "partial_coverage";

TEST_F(PartialGauge, IsFlaggedInRunsAndWhatIsMadeOfThem) {
  const std::string text = output_of(
      {"run", "--save", "--json", file("run.json"), "--html", file("run.html"), "sleep", "0.6"});
  EXPECT_THAT(text, HasSubstr(kFlag));
  const Json run = parse_json(content_of(path("run.json")));
  EXPECT_THAT(run["energy"]["total_flags"], testing::Contains(kFlag));
  const Json& gpu = run["energy"]["domains"][0];
  EXPECT_THAT(gpu["flags"], testing::Contains(kFlag));
  EXPECT_GT(gpu["max_uncertainty_w"], gpu["uncertainty_j"].get<double>() / 0.6)
      << "an interval of 0.1 s is less certain than all";
  EXPECT_THAT(content_of(path("run.html")), HasSubstr(kFlag));
  EXPECT_THAT(output_of({"report", file("run.json")}), HasSubstr(kFlag));
  const Json report = parse_json(output_of({"report", "--json", file("run.json")}));
  EXPECT_THAT(report["reports"][0]["runs"][0]["flags"], testing::Contains(kFlag)) << report;
  EXPECT_THAT(report["reports"][0]["nodes"][0]["flags"], testing::Contains(kFlag));
  EXPECT_THAT(output_of({"compare", file("run.json"), file("run.json")}), HasSubstr(kFlag));
}

TEST_F(PartialGauge, IsInStepWithRunsThatStartAtOnePhaseOfItsUpdates) {
  (void)output_of({"run", "--quiet", "--json", file("run.json"), "sleep", "0.4"});
  Json run = parse_json(content_of(path("run.json")));
  const double update_s = run["energy"]["domains"][0]["update_s"];
  EXPECT_GT(update_s, 0.0);
  Words report = {"report"};
  const double start_s = run["started_unix_s"];
  for (int i = 0; i < 12; ++i) {
    run["started_unix_s"] = start_s + 30.0 * i * update_s;
    run["ended_unix_s"] = start_s + 30.0 * i * update_s + run["wall_s"].get<double>();
    const std::string name = "run" + std::to_string(i) + ".json";
    folder_.write(name, run.dump());
    report.push_back(path(name).string());
  }
  EXPECT_THAT(output_of(report), testing::AllOf(HasSubstr("in_step"),
                                                HasSubstr("in step with the updates of a sensor")));
  report.insert(report.begin() + 1, "--json");
  const Json node = parse_json(output_of(report))["reports"][0]["nodes"][0];
  EXPECT_THAT(node["flags"], testing::Contains("in_step")) << node;
  EXPECT_NEAR(node["uncertainty_j"], 12.0 * run["energy"]["total_uncertainty_j"].get<double>(),
              1.2 * run["energy"]["total_uncertainty_j"].get<double>());
}

TEST_F(PartialGauge, IsFlaggedInTheHistory) {
  (void)output_of({"run", "--quiet", "--save", "sleep", "0.4"});
  EXPECT_THAT(output_of({"history", "list"}), HasSubstr(kFlag));
  EXPECT_THAT(output_of({"history", "list", "--csv"}), HasSubstr(std::string(",") + kFlag));
  const Json list = parse_json(output_of({"history", "list", "--json"}));
  ASSERT_EQ(list["runs"].size(), 1U) << list;
  EXPECT_THAT(list["runs"][0]["energy_flags"], testing::Contains(kFlag));
  EXPECT_THAT(output_of({"history", "show", list["runs"][0]["id"].get<std::string>()}),
              HasSubstr(kFlag));
}

TEST_F(PartialGauge, IsFlaggedInTop) {
  EXPECT_THAT(output_of({"top", "--once", "--seconds", "0.5"}), HasSubstr(kFlag));
  const Json top = parse_json(output_of({"top", "--once", "--seconds", "0.5", "--json"}));
  EXPECT_THAT(top["gpus"][0]["flags"], testing::Contains(kFlag)) << top;
}

TEST_F(PartialGauge, IsFlaggedInSeries) {
  (void)output_of(
      {"run", "--quiet", "--interval", "0.2", "--series", file("run.csv"), "sleep", "0.5"});
  EXPECT_THAT(content_of(path("run.csv")), HasSubstr(std::string(",") + kFlag));
}

TEST_F(PartialGauge, IsFlaggedInBenchmarks) {
  const std::string text =
      output_of({"bench", "-r", "2", "-N", "--export-json", file("bench.json"), "--export-csv",
                 file("bench.csv"), "--export-markdown", file("bench.md"), "sleep 0.3"});
  EXPECT_THAT(text, HasSubstr(kFlag));
  const Json bench = parse_json(content_of(path("bench.json")));
  EXPECT_THAT(bench["results"][0]["values"]["energy_flags"][0], testing::Contains(kFlag));
  EXPECT_THAT(content_of(path("bench.csv")), testing::EndsWith(std::string(",") + kFlag + "\n"));
  EXPECT_THAT(content_of(path("bench.md")), HasSubstr(std::string(" (") + kFlag + ")"));
}

TEST_F(PartialGauge, IsFlaggedWhereEnergyIsFollowed) {
  EXPECT_THAT(output_of({"energy", "--period", "0.1"}, kFlag), HasSubstr(" J  ±"));
  EXPECT_THAT(output_of({"energy", "--period", "0.1", "--json"}, "\"reading\""), HasSubstr(kFlag));
  EXPECT_THAT(output_of({"energy", "--period", "0.1", "--csv"}, kFlag), HasSubstr("energy_j"));
  EXPECT_THAT(output_of({"power", "--period", "0.1"}, kFlag), HasSubstr(" W  ±"));
  EXPECT_THAT(output_of({"power", "--period", "0.1", "--json"}, "\"reading\""), HasSubstr(kFlag));
  EXPECT_THAT(output_of({"power", "--period", "0.1", "--csv"}, kFlag), HasSubstr("power_w"));
}

TEST_F(PartialGauge, IsFlaggedInPhases) {
  const std::string mark = wattle_program() + " mark work";
  (void)output_of({"run", "--quiet", "--json", file("run.json"), "sh", "-c", mark + "; sleep 0.4"});
  const Json run = parse_json(content_of(path("run.json")));
  ASSERT_EQ(run["phases"]["rows"].size(), 1U) << run["phases"];
  EXPECT_THAT(run["phases"]["rows"][0]["total_flags"], testing::Contains(kFlag));
}

TEST_F(PartialGauge, IsFlaggedInSummariesOfAMonitor) {
  (void)output_of({"monitor", "--interval", "0.1", file("logs"), "--", "sleep", "0.6"});
  const Json summary = parse_json(output_of({"summary", "--json", file("logs")}));
  EXPECT_THAT(summary["machine"]["flags"], testing::Contains(kFlag)) << summary;
  EXPECT_THAT(content_of(path("logs") / "hw_samples.csv"),
              HasSubstr("energy_flag_" + std::string(kFlag)));
}

}  // namespace
}  // namespace wattle::integration
