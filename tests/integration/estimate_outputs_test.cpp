// Every output of every sub-command on a machine without sensors: no estimate stands where a
// measurement stands.
#include <csignal>

#include "command.hpp"
#include "no_energy.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;
using testing::Not;

enum class Form : std::uint8_t { text, json, csv, page };

/// With `--estimate`, and without.
class OutputsWithoutSensors : public CommandTest, public testing::WithParamInterface<bool> {
 protected:
  [[nodiscard]] static Words estimate() { return GetParam() ? Words{"--estimate"} : Words{}; }
  [[nodiscard]] Words nowhere() const {
    return {"--sysfs", path("no_sysfs"), "--nvml-library", path("none.so")};
  }
  [[nodiscard]] Start at_home(Start start) const {
    start.environment["XDG_STATE_HOME"] = path("state").string();
    start.environment["XDG_CONFIG_HOME"] = path("config").string();
    return start;
  }
  [[nodiscard]] Outcome run_wattle(const Words& words) const { return run(at_home(wattle(words))); }
  /// Until the first reading and Ctrl-C; without an estimate it ends by itself.
  [[nodiscard]] Outcome follow(const Words& words, std::string_view awaited) const {
    Process process(at_home(wattle(words)));
    if (GetParam()) {
      EXPECT_TRUE(process.prints(awaited)) << awaited;
      process.send(SIGINT);
    }
    return process.wait();
  }

  /// Checks an output; `is_estimated`: it is one that `--estimate` adds to.
  void check(std::string text, Form form, const std::string& where,
             bool is_estimated = false) const {
    text = without_name(std::move(text), folder_.path());
    switch (form) {
      case Form::text:
        expect_no_energy_in_text(text, where);
        break;
      case Form::json:
        expect_no_energy_in_json(text, where);
        break;
      case Form::csv:
        expect_no_energy_in_csv(text, where);
        break;
      case Form::page:
        expect_no_energy_in_page(text, where);
        break;
    }
    const char* const sign = form == Form::text   ? "~"
                             : form == Form::json ? "typical_j"
                                                  : "estimate";
    if (is_estimated && GetParam()) {
      EXPECT_THAT(text, HasSubstr(sign)) << where;
    } else if (!GetParam() && form != Form::page) {
      EXPECT_THAT(text, Not(HasSubstr(sign))) << where;
    }
  }
  void check_file(const char* name, Form form, bool is_estimated = false) const {
    check(content_of(path(name)), form, name, is_estimated);
  }
  /// The line that says why there is no energy names the option, unless it was given.
  static void expect_hint(const std::string& text, const std::string& where) {
    EXPECT_EQ(text.find("--estimate prints a range instead") != std::string::npos, !GetParam())
        << where << ": " << text;
  }
};

TEST_P(OutputsWithoutSensors, OfRunHistoryReportAndCompare) {
  const Outcome outcome = run_wattle(
      Words{"run", "--save", "-o", path("run.txt"), "--json", path("run.json"), "--html",
            path("run.html"), "--series", path("series.csv"), "--tracking-file", path("rows.csv")} +
      estimate() + nowhere() + Words{"--", "sleep", "0.1"});
  ASSERT_EQ(outcome.code(), 0) << outcome.err;
  check_file("run.txt", Form::text, true);
  check_file("run.json", Form::json, true);
  check_file("run.html", Form::page);
  check_file("series.csv", Form::csv);
  check_file("rows.csv", Form::csv);
  expect_hint(content_of(path("run.txt")), "run");
  const std::string id = parse_json(run_wattle({"history", "--json"}).out)["runs"][0]["id"];
  check(run_wattle({"history"}).out, Form::text, "history");
  check(run_wattle({"history", "--json"}).out, Form::json, "history --json");
  check(run_wattle({"history", "--csv"}).out, Form::csv, "history --csv");
  check(run_wattle({"history", "show", id}).out, Form::text, "history show");
  check(run_wattle({"history", "show", "--json", id}).out, Form::json, "history show --json");
  check(run_wattle({"history", "export"}).out, Form::json, "history export", true);
  check(run_wattle({"report", id}).out, Form::text, "report");
  check(run_wattle({"report", "--json", id}).out, Form::json, "report --json");
  EXPECT_EQ(run_wattle({"report", "--html", path("report.html"), id}).code(), 0);
  check_file("report.html", Form::page);
  check(run_wattle({"compare", path("run.json"), path("run.json")}).out, Form::text, "compare");
  check(run_wattle({"compare", "--json", path("run.json"), path("run.json")}).out, Form::json,
        "compare --json");
}

TEST_P(OutputsWithoutSensors, OfBench) {
  const Outcome outcome =
      run_wattle(Words{"bench", "--runs", "2", "--export-json", path("bench.json"), "--export-csv",
                       path("bench.csv"), "--html", path("bench.html"), "--export-markdown",
                       path("bench.md"), "--export-asciidoc", path("bench.adoc")} +
                 estimate() + nowhere() + Words{"sleep 0.05", "sleep 0.06"});
  ASSERT_EQ(outcome.code(), 0) << outcome.err;
  check(outcome.out, Form::text, "bench", true);
  check_file("bench.json", Form::json, true);
  check_file("bench.csv", Form::csv);
  check_file("bench.md", Form::text);
  check_file("bench.adoc", Form::text);
  expect_hint(outcome.out, "bench");
  EXPECT_THAT(outcome.out, Not(testing::ContainsRegex("(less|more) energy")));
  check(run_wattle({"compare", path("bench.json"), path("bench.json")}).out, Form::text,
        "compare of benchmarks");
  const Outcome compared = run_wattle(
      {"compare", "--html", path("compare.html"), path("bench.json"), path("bench.json")});
  EXPECT_EQ(compared.code(), 0) << compared.err;
  check_file("bench.html", Form::page, true);
  check_file("compare.html", Form::page);
}

TEST_P(OutputsWithoutSensors, OfPowerAndEnergy) {
  for (const std::string command : {"power", "energy"}) {
    const Words words = Words{command, "--period", "0.05"} + estimate() + nowhere();
    const Outcome text = follow(words, command == "power" ? " W)" : " J)");
    check(text.out, Form::text, command, true);
    EXPECT_EQ(text.code(), GetParam() ? 0 : 2);
    expect_hint(text.err, command);
    const Outcome json = follow(words + Words{"--json"}, R"("low_w":)");
    EXPECT_EQ(json.code(), GetParam() ? 0 : 2);
    if (GetParam()) check(json.out, Form::json, command + " --json", true);
    const Outcome csv = follow(words + Words{"--csv"}, ",estimate,server_power_model,");
    if (GetParam()) check(csv.out, Form::csv, command + " --csv", true);
  }
}

TEST_P(OutputsWithoutSensors, OfTrackAndTop) {
  const Words self = {"--pid", std::to_string(::getpid()), "--duration", "0.1"};
  const Outcome track = run_wattle(Words{"track"} + self + estimate() + nowhere() +
                                   Words{"--json", path("track.json")});
  check(track.out, Form::text, "track", true);
  check_file("track.json", Form::json, true);
  expect_hint(track.out, "track");
  const Words top = Words{"top", "--once", "--seconds", "0.1"} + estimate() + nowhere();
  const Outcome table = run_wattle(top);
  check(table.out, Form::text, "top", true);
  expect_hint(table.out, "top");
  check(run_wattle(top + Words{"--json"}).out, Form::json, "top --json", true);
}

/// They have no such option: nothing is estimated behind the user's back.
TEST_P(OutputsWithoutSensors, OfThoseThatEstimateNothing) {
  if (GetParam()) GTEST_SKIP() << "no --estimate";
  for (const char* const command : {"sensors", "doctor"}) {
    check(run_wattle(Words{command} + nowhere()).out, Form::text, command);
    check(run_wattle(Words{command, "--json"} + nowhere()).out, Form::json, command);
  }
  const Outcome monitor = run_wattle(Words{"monitor", path("rows"), "--interval", "0.05"} +
                                     nowhere() + Words{"--", "sleep", "0.1"});
  check(monitor.err, Form::text, "monitor");
  for (const auto& file : std::filesystem::directory_iterator(path("rows"))) {
    check(content_of(file.path()), Form::csv, file.path().filename());
  }
  check(run_wattle({"summary", path("rows")}).out, Form::text, "summary");
  check(run_wattle({"summary", "--json", path("rows")}).out, Form::json, "summary --json");
}

INSTANTIATE_TEST_SUITE_P(Estimate, OutputsWithoutSensors, testing::Bool(), [](const auto& test) {
  return test.param ? "Estimated" : "NotEstimated";
});

}  // namespace
}  // namespace wattle::integration
