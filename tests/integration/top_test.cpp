// `wattle top` on a terminal, as JSON lines, recorded and replayed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>

#include "base/files/file.hpp"
#include "fakes/nvml/control.hpp"
#include "terminal_screen.hpp"
#include "top_command.hpp"
#include "top_screens.hpp"

namespace wattle::integration {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST_F(TopCommand, ShowsTheRightScreenAfterEveryKeyAndAtEverySize) {
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  Pty terminal;
  terminal.resize(80, 24);
  Process process(on(terminal, replay({"--price", "0.30EUR", "--carbon", "380"})));
  Screens screens({.shown =
                       [&](std::size_t columns, std::size_t lines) {
                         terminal.take();
                         TerminalScreen screen(columns, lines);
                         screen.take(terminal.text());
                         return screen.text();
                       },
                   .type = [&](const std::string& keys) { terminal.type(keys); },
                   .resize = [&](unsigned short columns,
                                 unsigned short lines) { terminal.resize(columns, lines); }},
                  Screens::Golden::may_be_written);
  screens.play();
  screens.resize_to(1, 1);
  screens.resize_to(80, 24);
  terminal.type("q");
  EXPECT_EQ(process.wait().code(), 0);
}

TEST_F(TopCommand, PrintsOnceWhatGpusSpentWhereNoCpuIsMeasured) {
  const fakes::FakeNvml nvml("gpu A\npower step 0 100\ncounter 5000 step_ms 20\n");
  Start start = wattle({"top", "--once", "--seconds", "1", "--sysfs", path("none"),
                        "--nvml-library", nvml.library_path()});
  start.environment = {{"WATTLE_FAKE_NVML", nvml.script_path()}, {"LC_ALL", "C.UTF-8"}};
  const Outcome table = run(start);
  EXPECT_THAT(table.out, AllOf(testing::ContainsRegex("nvidia_gpu_0 +[0-9.]+ W"),
                               HasSubstr("no energy of CPUs: ")));
  start.command.emplace_back("--json");
  const Json json = parse_json(run(start).out);
  ASSERT_EQ(json["gpus"].size(), 1U) << json;
  EXPECT_EQ(json["gpus"][0]["domain"], "nvidia_gpu_0");
  EXPECT_GT(json["gpus"][0]["energy_j"], 0.0);
  EXPECT_TRUE(json["energy"]["measured_j"].is_null());
}

TEST_F(TopCommand, IsForTerminals) {
  const Outcome outcome = run(replay());
  EXPECT_EQ(outcome.code(), kUsage);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("stdout is not a terminal"), HasSubstr("--once"),
                                 HasSubstr("--json")));
}

TEST_F(TopCommand, RefusesWhatIsNoRecordingInOneSentence) {
  std::string half = recording();
  half.resize(half.find('\n') + 1);
  for (const std::string& content :
       {std::string(), std::string("hello\n"), std::string("\0\x1b[2J\n", 6),
        std::string("{\"schema\":\"wattle.run/2\"}\n"), half}) {
    const Outcome outcome = run(wattle({"top", "--json", "--replay", replayed(content)}));
    EXPECT_EQ(outcome.code(), kUsage) << content;
    EXPECT_THAT(outcome.err, HasSubstr("top.jsonl")) << content;
    EXPECT_EQ(outcome.out, "");
  }
  const Outcome missing = run(wattle({"top", "--json", "--replay", path("none").string()}));
  EXPECT_EQ(missing.code(), kUsage);
  EXPECT_THAT(missing.err, HasSubstr("cannot read"));
}

TEST_F(TopCommand, LeavesOutDamagedLinesOfARecording) {
  std::string text = recording();
  text.insert(text.find('\n') + 1, "rubbish\n");
  const Outcome outcome =
      run(wattle({"top", "--json", "--replay", replayed(text + "{\"elapsed"), "--speed", "4096"}));
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 2);
}

TEST_F(TopCommand, ReplaysWhatItRecorded) {
  tree_.add_zone("intel-rapl:0", "package-0");
  const std::string file = path("own.jsonl").string();
  Process process(on_machine({"--json", "--period", "0.1", "--record", file}));
  ASSERT_TRUE(process.prints("\n{"));
  process.send(SIGINT);
  const Outcome recorded = process.wait();
  EXPECT_EQ(recorded.code(), 0);
  const Outcome again = run(wattle({"top", "--json", "--replay", file, "--speed", "4096"}));
  EXPECT_EQ(again.code(), 0);
  std::string_view out = recorded.out;
  const Json first = parse_json(std::string(out.substr(0, out.find('\n'))));
  const Json replayed_first = parse_json(again.out.substr(0, again.out.find('\n')));
  EXPECT_EQ(first["elapsed_s"], replayed_first["elapsed_s"]);
  EXPECT_EQ(first["devices"], replayed_first["devices"]);
  EXPECT_EQ(first["groups"].size(), replayed_first["groups"].size());
}

TEST_F(TopCommand, RecordsIntoNoFileOfAnotherKind) {
  const std::string file = path("letter.txt").string();
  std::ofstream(file) << "dear reader\n";
  const Outcome outcome = run(on_machine({"--json", "--record", file}));
  EXPECT_EQ(outcome.code(), kFailed);
  EXPECT_EQ(content_of(file), "dear reader\n");
}

TEST_F(TopCommand, CountsABurstBetweenTwoPeriods) {
  tree_.add_zone("intel-rapl:0", "package-0");
  Process process(on_machine({"--json", "--period", "0.3"}));
  ASSERT_TRUE(process.prints("\n"));
  fakes::set_energy_uj(tree_.zone_path("intel-rapl:0"), 50'000'000);
  ASSERT_TRUE(process.prints("\"energy_j\":5"));
  process.send(SIGTERM);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code(), 0);
  std::string last = outcome.out;
  last.pop_back();
  last = last.substr(last.rfind('\n') + 1);
  const Json json = parse_json(last);
  EXPECT_NEAR(json["devices"][0]["energy_j"].get<double>(), 50.0, 0.1);
  EXPECT_NEAR(json["total"]["energy_j"].get<double>(), 50.0, 0.1);
}

TEST_F(TopCommand, SaysWhatIsMissingWithoutSensors) {
  Process process(wattle({"top", "--json", "--period", "0.1", "--sysfs", path("none").string(),
                          "--nvml-library", path("none").string()}));
  ASSERT_TRUE(process.prints("\n"));
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  const Json json = parse_json(outcome.out.substr(0, outcome.out.find('\n')));
  EXPECT_EQ(json["share_of"], "cpu_time");
  EXPECT_TRUE(json["devices"].empty());
  EXPECT_FALSE(json["groups"].empty());
  EXPECT_THAT(json["missing"].dump(), HasSubstr("--estimate"));
}

TEST_F(TopCommand, RefusesWrongOptions) {
  for (const Words& words : std::vector<Words>{{"--price", "cheap"},
                                               {"--price", "0,30EUR"},
                                               {"--carbon", "-1"},
                                               {"--carbon", "0,38"},
                                               {"--period", "0,5"},
                                               {"--replay", "x", "--speed", "0,5"},
                                               {"--period", "0"},
                                               {"--speed", "2"},
                                               {"--by", "moon"},
                                               {"--once", "--record", "x"},
                                               {"--seconds", "1"},
                                               {"--replay", "x", "--record", "y"},
                                               {"--replay", "x", "--speed", "0"}}) {
    EXPECT_EQ(run(wattle(Words{"top", "--json"} + words)).code(), kUsage)
        << testing::PrintToString(words);
  }
}

}  // namespace
}  // namespace wattle::integration
