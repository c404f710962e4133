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

constexpr const char* kSecondGauge =
    "gpu Tesla M40 24GB\nuuid GPU-b\ncounter none\ninstant none\naverage none\n"
    "power step 0 100\n";

/// A machine without other sensors than the gauge of an M40, which sees 14 of 31 ms.
class PartialGauge : public CommandTest {
 protected:
  explicit PartialGauge(const std::string& gpus = kPartialGauge) : gpu_(gpus) {}
  [[nodiscard]] Start start(const Words& words) const {
    Start start = wattle(words);
    start.environment = {{"WATTLE_FAKE_NVML", gpu_.script_path()},
                         {"WATTLE_NVML_LIBRARY", gpu_.library_path()},
                         {"WATTLE_SYSFS", path("nothing").string()},
                         {"WATTLE_SOCK_PATH", "none"},
                         {"WATTLE_HISTORY", path("history.db").string()},
                         {"SLURM_JOB_ID", "77"}};
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
  fakes::FakeNvml gpu_;
};

/// The same with two of them, which have a total.
class PartialGauges : public PartialGauge {
 protected:
  PartialGauges() : PartialGauge(std::string(kPartialGauge) + kSecondGauge) {}
};

constexpr const char* kFlag = "partial_coverage";

/// The line of `text` that has `part`; empty where none has.
std::string line_with(const std::string& text, std::string_view part) {
  const std::size_t found = text.find(part);
  if (found == std::string::npos) return {};
  const std::size_t before = text.rfind('\n', found);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, text.find('\n', found) - begin);
}

TEST_F(PartialGauge, IsFlaggedInRunsAndWhatIsMadeOfThem) {
  const std::string text = output_of(
      {"run", "--save", "--json", file("run.json"), "--html", file("run.html"), "sleep", "0.6"});
  EXPECT_THAT(line_with(text, "energy of this machine"), HasSubstr(kFlag)) << text;
  EXPECT_THAT(line_with(text, "nvidia_gpu_0 "), HasSubstr(kFlag)) << text;
  const Json run = parse_json(content_of(path("run.json")));
  EXPECT_THAT(run["energy"]["total_flags"], testing::Contains(kFlag));
  const Json& gpu = run["energy"]["domains"][0];
  EXPECT_THAT(gpu["flags"], testing::Contains(kFlag));
  EXPECT_GT(gpu["max_uncertainty_w"], gpu["uncertainty_j"].get<double>() / 0.6)
      << "an interval of 0.1 s is less certain than all";
  EXPECT_THAT(run["share"]["gpus"][0]["measured_flags"], testing::Contains(kFlag)) << run["share"];
  EXPECT_THAT(run["share"]["gpus"][0]["measured_uncertainty_j"], gpu["uncertainty_j"]);
  const std::string page = content_of(path("run.html"));
  EXPECT_THAT(line_with(page, "energy of this machine"), HasSubstr(kFlag));
  const std::string domains = page.substr(page.find("<caption>Energy and power by domain"));
  EXPECT_THAT(line_with(domains, ">nvidia_gpu_0</th>"), HasSubstr(kFlag));
}

TEST_F(PartialGauge, IsFlaggedInReports) {
  (void)output_of({"run", "--quiet", "--json", file("run.json"), "sleep", "0.4"});
  const std::string text = output_of({"report", "--html", file("report.html"), file("run.json")});
  EXPECT_THAT(line_with(text, "1 run"), HasSubstr(kFlag)) << text;
  EXPECT_THAT(output_of({"report", "--brief", file("run.json")}), HasSubstr(kFlag));
  const std::string page = content_of(path("report.html"));
  EXPECT_THAT(page.substr(page.find("Runs")), HasSubstr(kFlag));
  const Json report = parse_json(output_of({"report", "--json", file("run.json")}));
  EXPECT_THAT(report["reports"][0]["runs"][0]["flags"], testing::Contains(kFlag)) << report;
  EXPECT_THAT(report["reports"][0]["nodes"][0]["flags"], testing::Contains(kFlag));
  EXPECT_THAT(report["reports"][0]["flags"], testing::Contains(kFlag));
}

TEST_F(PartialGauge, IsFlaggedInComparisons) {
  (void)output_of({"run", "--quiet", "--json", file("run.json"), "sleep", "0.4"});
  const Words runs = {file("run.json"), file("run.json")};
  EXPECT_THAT(output_of(Words{"compare", "--html", file("compare.html")} + runs), HasSubstr(kFlag));
  EXPECT_THAT(content_of(path("compare.html")), HasSubstr(kFlag));
  EXPECT_THAT(output_of(Words{"compare", "--json"} + runs), HasSubstr(kFlag));
}

/// Slurm's plugin runs it, and writes its line into the comment of the job.
TEST_F(PartialGauge, IsFlaggedInStepsOfAJob) {
  (void)output_of({"run", "--quiet", "--json", file("job-77.step-0.node-n1.json"), "sleep", "0.4"});
  const Words sum = {"step", "--sum", "--job", "77", "--nodes", "1", "--folder", path("").string()};
  EXPECT_THAT(line_with(output_of(sum), "job 77"), HasSubstr(kFlag));
  EXPECT_THAT(output_of(sum + Words{"--json"}), HasSubstr(kFlag));
}

TEST_F(PartialGauge, IsFlaggedInStatusLinesOfARun) {
  const std::string text =
      output_of({"run", "--quiet", "--interval", "0.2", "--status", "0.4", "sleep", "0.9"});
  EXPECT_THAT(text, testing::ContainsRegex("[0-9] W ±[0-9.]+ W, partial_coverage, "));
}

TEST_F(PartialGauge, IsFlaggedWhereProcessesAreTracked) {
  Process target({.command = {"sleep", "100"}});
  const Words track = {"track", "--pid", std::to_string(target.pid()), "--duration", "0.5"};
  EXPECT_THAT(line_with(output_of(track), "nvidia_gpu_0: "), HasSubstr(kFlag));
  EXPECT_THAT(output_of(track + Words{"--json", "-"}), HasSubstr(kFlag));
  target.send(SIGKILL);
  (void)target.wait();
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
  const std::string shown =
      output_of({"history", "show", list["runs"][0]["id"].get<std::string>()});
  EXPECT_THAT(line_with(shown, "energy  "), HasSubstr(kFlag)) << shown;
}

TEST_F(PartialGauge, IsFlaggedInTop) {
  EXPECT_THAT(output_of({"top", "--once", "--seconds", "0.5"}), HasSubstr(kFlag));
  const Json top = parse_json(output_of({"top", "--once", "--seconds", "0.5", "--json"}));
  EXPECT_THAT(top["gpus"][0]["flags"], testing::Contains(kFlag)) << top;
  EXPECT_GT(top["gpus"][0]["uncertainty_w"], 0.0) << top;
}

TEST_F(PartialGauges, AreFlaggedInTheirTotal) {
  const std::string text = output_of({"run", "--json", file("run.json"), "sleep", "0.4"});
  EXPECT_THAT(line_with(text, "  total "), HasSubstr(kFlag)) << text;
  const std::string top = output_of({"top", "--once", "--seconds", "0.5"});
  EXPECT_THAT(line_with(top, "total "), HasSubstr(kFlag)) << top;
  const std::string lines = output_of({"top", "--json", "--period", "0.3"}, "\"total\":{");
  EXPECT_THAT(parse_json(line_with(lines, "\"total\":{"))["total"]["flags"],
              testing::Contains(kFlag))
      << lines;
}

TEST_F(PartialGauge, IsFlaggedInSeries) {
  (void)output_of(
      {"run", "--quiet", "--interval", "0.2", "--series", file("run.csv"), "sleep", "0.5"});
  EXPECT_THAT(content_of(path("run.csv")), HasSubstr(std::string(",") + kFlag));
}

TEST_F(PartialGauge, IsFlaggedInBenchmarks) {
  const std::string text =
      output_of({"bench", "-r", "2", "-N", "--export-json", file("bench.json"), "--export-csv",
                 file("bench.csv"), "--export-markdown", file("bench.md"), "--export-asciidoc",
                 file("bench.adoc"), "--export-orgmode", file("bench.org"), "--html",
                 file("bench.html"), "sleep 0.3"});
  EXPECT_THAT(text, HasSubstr(kFlag));
  const std::string in_cell = std::string(" (") + kFlag + ")";
  EXPECT_THAT(content_of(path("bench.adoc")), HasSubstr(in_cell));
  EXPECT_THAT(content_of(path("bench.org")), HasSubstr(in_cell));
  const std::string page = content_of(path("bench.html"));
  EXPECT_THAT(page.substr(page.find("Runs of ")), HasSubstr(kFlag));
  const Json bench = parse_json(content_of(path("bench.json")));
  EXPECT_THAT(bench["results"][0]["values"]["energy_flags"][0], testing::Contains(kFlag));
  EXPECT_THAT(content_of(path("bench.csv")), testing::EndsWith(std::string(",") + kFlag + "\n"));
  EXPECT_THAT(content_of(path("bench.md")), HasSubstr(in_cell));
}

TEST_F(PartialGauge, IsFlaggedInScansOfAParameter) {
  const std::string text = output_of({"bench", "-r", "2", "-N", "-L", "s", "0.2,0.3", "sleep {s}"});
  EXPECT_THAT(text.substr(text.find("ordered by energy")), HasSubstr(kFlag)) << text;
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
  const std::string text = output_of({"run", "--json", file("run.json"), "--html", file("run.html"),
                                      "sh", "-c", mark + "; sleep 0.4"});
  EXPECT_THAT(line_with(text, "work "), HasSubstr(kFlag)) << text;
  const std::string page = content_of(path("run.html"));
  EXPECT_THAT(line_with(page, ">work</th>"), HasSubstr(kFlag)) << page;
  const Json run = parse_json(content_of(path("run.json")));
  ASSERT_EQ(run["phases"]["rows"].size(), 1U) << run["phases"];
  EXPECT_THAT(run["phases"]["rows"][0]["total_flags"], testing::Contains(kFlag));
}

TEST_F(PartialGauge, IsFlaggedInUnitsOfWork) {
  const std::string mark = wattle_program() + " mark --unit ";
  const std::string text = output_of({"run", "--json", file("run.json"), "--html", file("run.html"),
                                      "sh", "-c", mark + "job; sleep 0.5; " + mark + "--end job"});
  EXPECT_THAT(line_with(text, " = units "), HasSubstr(kFlag)) << text;
  const Json domain = parse_json(content_of(path("run.json")))["units"]["domains"][0];
  EXPECT_THAT(domain["measured_flags"], testing::Contains(kFlag)) << domain;
  EXPECT_GT(domain["measured_uncertainty_j"], 0.0) << domain;
  const std::string page = content_of(path("run.html"));
  EXPECT_THAT(page.substr(page.find("Where the energy of each domain went")), HasSubstr(kFlag));
}

TEST_F(PartialGauge, IsFlaggedInSummariesOfAMonitor) {
  (void)output_of({"monitor", "--interval", "0.1", file("logs"), "--", "sleep", "0.6"});
  const Json summary = parse_json(output_of({"summary", "--json", file("logs")}));
  EXPECT_THAT(summary["machine"]["flags"], testing::Contains(kFlag)) << summary;
  const std::string text = output_of({"summary", file("logs")});
  EXPECT_THAT(line_with(text, "energy  "), HasSubstr(kFlag)) << text;
  EXPECT_THAT(content_of(path("logs") / "hw_samples.csv"),
              HasSubstr("energy_flag_" + std::string(kFlag)));
}

}  // namespace
}  // namespace wattle::integration
