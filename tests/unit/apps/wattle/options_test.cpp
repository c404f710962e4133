#include "cli/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "wattle/error.hpp"
#include "wattle/wattle.hpp"

namespace wattle::app {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

Options parse(std::vector<const char*> words) {
  words.insert(words.begin(), "wattle");
  return parse_options(static_cast<int>(words.size()), words.data());
}

RunOptions run_of(const std::vector<const char*>& words) {
  const Options options = parse(words);
  if (const auto* wrong = std::get_if<Answer>(&options)) ADD_FAILURE() << wrong->text;
  return std::holds_alternative<RunOptions>(options) ? std::get<RunOptions>(options) : RunOptions{};
}

Answer answer_of(const std::vector<const char*>& words) {
  const Options options = parse(words);
  EXPECT_TRUE(std::holds_alternative<Answer>(options));
  return std::holds_alternative<Answer>(options) ? std::get<Answer>(options) : Answer{};
}

TEST(RunOptions, HaveDefaults) {
  const RunOptions run = run_of({"run", "--", "true"});
  EXPECT_THAT(run.command, ElementsAre("true"));
  EXPECT_EQ(run.interval, 100ms);
  EXPECT_THAT(run.report_path, IsEmpty());
  EXPECT_THAT(run.json_path, IsEmpty());
  EXPECT_THAT(run.series_path, IsEmpty());
  EXPECT_EQ(run.gpus, "all");
  EXPECT_EQ(run.status, 0s) << "no status lines";
  EXPECT_FALSE(run.append || run.quiet || run.every_rank || run.task_clock);
}

TEST(RunOptions, NameTheValueThatAnOptionLacks) {
  EXPECT_THAT(answer_of({"run", "--interval"}).text,
              StartsWith("wattle run: --interval needs a value: SECONDS\n"));
}

TEST(RunOptions, TakeThePeriodOfStatusLines) {
  EXPECT_EQ(run_of({"run", "--status", "10", "--", "true"}).status, 10s);
}

TEST(RunOptions, TakeEveryOption) {
  const RunOptions run =
      run_of({"run",          "-o",           "run.txt",   "--json",     "-",
              "--append",     "--quiet",      "--series",  "run.csv",    "--gpus",
              "0,2",          "--units",      "units.csv", "--interval", "0.5",
              "--every-rank", "--task-clock", "--sysfs",   "/host/sys",  "--procfs",
              "/host/proc",   "--",           "make",      "-j8"});
  EXPECT_THAT(run.command, ElementsAre("make", "-j8"));
  EXPECT_EQ(run.report_path, "run.txt");
  EXPECT_EQ(run.json_path, "-");
  EXPECT_EQ(run.series_path, "run.csv");
  EXPECT_EQ(run.units_path, "units.csv");
  EXPECT_EQ(run.gpus, "0,2");
  EXPECT_TRUE(run.append && run.quiet && run.every_rank && run.task_clock);
  EXPECT_EQ(run.interval, 500ms);
  EXPECT_EQ(run.system.sysfs, "/host/sys");
  EXPECT_EQ(run.system.procfs, "/host/proc");
}

TEST(RunOptions, TakeTheCommandWithoutAMark) {
  EXPECT_THAT(run_of({"run", "ls", "-l", "--json", "x"}).command,
              ElementsAre("ls", "-l", "--json", "x"));
  EXPECT_THAT(run_of({"run", "-q", "ls", "--help"}).command, ElementsAre("ls", "--help"));
}

TEST(RunOptions, LeaveEverythingAfterTheMarkToTheCommand) {
  EXPECT_THAT(run_of({"run", "--", "--json", "-o"}).command, ElementsAre("--json", "-o"));
  EXPECT_THAT(run_of({"run", "--", "sh", "-c", "a -- b", "--", "c"}).command,
              ElementsAre("sh", "-c", "a -- b", "--", "c"));
  EXPECT_THAT(run_of({"run", "--", ""}).command, ElementsAre(""));
}

TEST(RunOptions, LeaveAMarkInsideTheCommandAlone) {
  EXPECT_THAT(run_of({"run", "git", "log", "--", "file"}).command,
              ElementsAre("git", "log", "--", "file"));
}

TEST(RunOptions, TakeNoCommandForOneOfWattlesOwn) {
  EXPECT_THAT(run_of({"run", "sensors", "--json"}).command, ElementsAre("sensors", "--json"));
  EXPECT_THAT(run_of({"run", "run"}).command, ElementsAre("run"));
  EXPECT_THAT(run_of({"run", "--", "doctor"}).command, ElementsAre("doctor"));
}

TEST(RunOptions, AreRefusedWithTheStatusOfAFailedRun) {
  for (const std::vector<const char*>& words : {std::vector<const char*>{"run"},
                                                {"run", "--"},
                                                {"run", "--no-such", "--", "true"},
                                                {"run", "--json"},
                                                {"run", "--interval", "0", "--", "true"},
                                                {"run", "--status", "0", "--", "true"},
                                                {"run", "--status", "", "--", "true"},
                                                {"run", "--status", "0.05", "--", "true"},
                                                {"run", "-", "--", "true"},
                                                {"run", "-o-", "--json=/dev/stdout", "true"},
                                                {"run", "-o", "x", "--json", "x", "--", "true"}}) {
    const Answer answer = answer_of(words);
    EXPECT_TRUE(answer.is_error);
    EXPECT_EQ(answer.exit_status, kRunFailed);
    EXPECT_THAT(answer.text, StartsWith("wattle run: "));
    EXPECT_THAT(answer.text, HasSubstr("\nTry: wattle run --help\n"));
  }
}

TEST(SurveyOptions, AreThoseOfSensorsAndDoctor) {
  const Options sensors = parse({"sensors", "--json", "--measure", "--sysfs", "/host/sys"});
  ASSERT_TRUE(std::holds_alternative<SensorsOptions>(sensors));
  EXPECT_TRUE(std::get<SensorsOptions>(sensors).json);
  EXPECT_TRUE(std::get<SensorsOptions>(sensors).measure);
  EXPECT_FALSE(std::get<SensorsOptions>(sensors).cross_check);
  EXPECT_EQ(std::get<SensorsOptions>(sensors).system.sysfs, "/host/sys");
  const Options doctor = parse({"doctor"});
  ASSERT_TRUE(std::holds_alternative<DoctorOptions>(doctor));
  EXPECT_FALSE(std::get<DoctorOptions>(doctor).json);
}

TEST(DoctorOptions, FixOneThingAndRunNothing) {
  const Options options = parse({"doctor", "--fix", "daemon"});
  ASSERT_TRUE(std::holds_alternative<DoctorOptions>(options));
  EXPECT_EQ(std::get<DoctorOptions>(options).fix, FixTarget::daemon);
  EXPECT_FALSE(std::get<DoctorOptions>(options).apply);
}

TEST(DoctorOptions, RefuseWhatCannotBeFixed) {
  EXPECT_THAT(answer_of({"doctor", "--fix", "disk"}).text,
              HasSubstr("--fix takes cpu, gpu or daemon, not 'disk'"));
  EXPECT_TRUE(answer_of({"doctor", "--apply"}).is_error);
  EXPECT_TRUE(answer_of({"doctor", "--fix", "cpu", "--json"}).is_error);
}

TEST(SurveyOptions, AreRefusedWithTheStatusOfWrongUsage) {
  for (const std::vector<const char*>& words : {std::vector<const char*>{"measure"},
                                                {"sensors", "extra"},
                                                {"doctor", "--no-such"},
                                                {"--no-such"},
                                                {""}}) {
    const Answer answer = answer_of(words);
    EXPECT_TRUE(answer.is_error);
    EXPECT_EQ(answer.exit_status, kUsageError);
    EXPECT_THAT(answer.text, HasSubstr("--help\n"));
  }
}

TEST(Options, OfNoProgramNameAreTheHelpToo) {
  const char* const* none = nullptr;
  EXPECT_FALSE(std::get<Answer>(parse_options(0, none)).is_error);
}

TEST(Options, GiveHelpForEachCommand) {
  EXPECT_THAT(answer_of({"--help"}).text, HasSubstr("doctor"));
  EXPECT_THAT(answer_of({"run", "--help"}).text, HasSubstr("wattle run [options] -- CMD [ARG...]"));
  EXPECT_THAT(answer_of({"sensors", "--help"}).text, HasSubstr("--sysfs"));
  for (const std::vector<const char*>& words :
       {std::vector<const char*>{"--help"}, {"run", "--help"}, {"doctor", "--help"}}) {
    EXPECT_FALSE(answer_of(words).is_error);
    EXPECT_EQ(answer_of(words).exit_status, 0);
  }
}

TEST(Options, GiveHelpOfTheCommandAfterHelp) {
  EXPECT_EQ(answer_of({"help"}).text, answer_of({"--help"}).text);
  EXPECT_EQ(answer_of({"help", "run"}).text, answer_of({"run", "--help"}).text);
  EXPECT_EQ(answer_of({"help", "run", "--", "x"}).text, answer_of({"run", "--help"}).text);
  EXPECT_THAT(std::get<StreamWords>(parse({"help", "stream"})).words, ElementsAre("--help"));
  EXPECT_TRUE(answer_of({"help", "nothing"}).is_error);
}

TEST(Options, GiveTheVersion) {
  EXPECT_EQ(answer_of({"--version"}).text, "wattle " + std::string(version()) + "\n");
  EXPECT_EQ(answer_of({"-V"}).text, answer_of({"--version"}).text);
}

TEST(Options, AskWhetherANearOneWasMeant) {
  EXPECT_THAT(answer_of({"snesors"}).text,
              StartsWith("wattle: unknown command snesors; did you mean sensors?\n"));
  EXPECT_THAT(answer_of({"power", "--jsn"}).text,
              StartsWith("wattle power: unknown option --jsn; did you mean --json?\n"));
  EXPECT_THAT(answer_of({"run", "--quite", "--", "true"}).text,
              StartsWith("wattle run: unknown option --quite; did you mean --quiet?\n"));
  EXPECT_THAT(answer_of({"run", "--trace=x", "--", "true"}).text,
              StartsWith("wattle run: unknown option --trace\n"));
}

TEST(Options, AskWhetherAProgramWasToBeMeasured) {
  EXPECT_THAT(answer_of({"sleep", "1"}).text,
              StartsWith("wattle: unknown command sleep; did you mean wattle run -- sleep 1?\n"));
  EXPECT_THAT(answer_of({"/bin/sh", "-c", "a b", "c", "d"}).text,
              HasSubstr("did you mean wattle run -- /bin/sh -c 'a b' c ...?\n"));
  EXPECT_THAT(answer_of({"/"}).text, HasSubstr("wattle: unknown command /\n"));
}

TEST(Options, NameAnUnexpectedArgument) {
  EXPECT_THAT(answer_of({"sensors", "a b"}).text,
              StartsWith("wattle sensors: unexpected argument 'a b'\n"));
}

TEST(Options, AreQuotedPrintably) {
  for (const std::vector<const char*>& words :
       {std::vector<const char*>{"\x1b[2J"},
        {"run", "--\x1b[2J", "--", "x"},
        {"run", "--interval", "\x1b[2J", "--", "x"},
        {"run", "-o", "\x1b[2J", "--json", "\x1b[2J", "--", "x"}}) {
    EXPECT_THAT(answer_of(words).text, Not(HasSubstr("\x1b")));
  }
}

PowerOptions power_options(const std::vector<const char*>& words) {
  return std::get<PowerOptions>(parse(words));
}

TEST(PowerOptions, HaveDefaults) {
  const PowerOptions options = power_options({"power"});
  EXPECT_EQ(options.shows, PowerShows::power);
  EXPECT_EQ(options.format, PowerFormat::text);
  EXPECT_EQ(options.period, 1s);
  EXPECT_EQ(options.gpus, "all");
  EXPECT_FALSE(options.gpu_domain || options.cpu_domain);
}

TEST(PowerOptions, AreReadFromTheLine) {
  const PowerOptions options = power_options(
      {"energy", "--csv", "--period", "0.5", "--gpus", "0,2", "--domain", "device_average"});
  EXPECT_EQ(options.shows, PowerShows::energy);
  EXPECT_EQ(options.format, PowerFormat::csv);
  EXPECT_EQ(options.period, 500ms);
  EXPECT_EQ(options.gpus, "0,2");
  EXPECT_EQ(options.gpu_domain, PowerDomain::device_average);
  EXPECT_EQ(power_options({"power", "--domain", "dram"}).cpu_domain, DomainKind::dram);
  EXPECT_EQ(power_options({"power", "--json"}).format, PowerFormat::json);
}

TEST(PowerOptions, NameTheDomainsThereAre) {
  const Answer answer = answer_of({"power", "--domain", "core"});
  EXPECT_EQ(answer.exit_status, kUsageError);
  EXPECT_THAT(answer.text, HasSubstr("device_instant, device_average, memory_average, "
                                     "module_instant, module_average, package or "
                                     "dram, not 'core'"));
}

TEST(PowerOptions, NameThePeriodInWhatIsWrongWithIt) {
  EXPECT_THAT(answer_of({"power", "--period", "0"}).text, HasSubstr("--period takes"));
}

TEST(ParseInterval, TakesSecondsFromAMillisecondToAnHour) {
  EXPECT_EQ(parse_interval("0.001"), 1ms);
  EXPECT_EQ(parse_interval("0.1"), 100ms);
  EXPECT_EQ(parse_interval("2"), 2s);
  EXPECT_EQ(parse_interval("1e-2"), 10ms);
  EXPECT_EQ(parse_interval("3600"), 1h);
}

TEST(ParseInterval, RoundsToTheNearestNanosecond) {
  EXPECT_EQ(parse_interval("1.001"), 1001ms);
  EXPECT_EQ(parse_interval("0.0011"), 1100us);
  for (int ms = 1; ms <= 10'000; ++ms) {
    const std::string text =
        std::to_string(ms / 1000) + "." + std::to_string(1000 + ms % 1000).substr(1);
    ASSERT_EQ(parse_interval(text), std::chrono::milliseconds(ms)) << text;
  }
}

TEST(ParseInterval, RefusesEverythingElse) {
  for (const char* text : {"", "0", "-1", "0.0009", "3600.1", "1e9", "nan", "inf", "0,1", "0.1s",
                           " 1", "1 ", "0x1", "soon"}) {
    EXPECT_THROW((void)parse_interval(text), InvalidArgument) << text;
  }
}

MonitorOptions monitor_of(const std::vector<const char*>& words) {
  const Options options = parse(words);
  if (const auto* wrong = std::get_if<Answer>(&options)) ADD_FAILURE() << wrong->text;
  return std::holds_alternative<MonitorOptions>(options) ? std::get<MonitorOptions>(options)
                                                         : MonitorOptions{};
}

TEST(MonitorOptions, AreAFolderAndPerhapsACommand) {
  const MonitorOptions alone = monitor_of({"monitor", "out"});
  EXPECT_EQ(alone.folder, "out");
  EXPECT_EQ(alone.interval, 2s);
  EXPECT_THAT(alone.command, IsEmpty());
  EXPECT_FALSE(alone.overwrite);
  const MonitorOptions all = monitor_of({"monitor", "--interval", "0.5", "--overwrite", "-q", "out",
                                         "--sysfs", "/s", "--", "ls", "-q", "--", "x"});
  EXPECT_EQ(all.interval, 500ms);
  EXPECT_EQ(monitor_of({"monitor", "out", "--interval", "86400"}).interval, 24h);
  EXPECT_EQ(monitor_of({"monitor", "out", "--interval", "0.001"}).interval, 1ms);
  EXPECT_TRUE(all.overwrite);
  EXPECT_TRUE(all.quiet);
  EXPECT_EQ(all.system.sysfs, "/s");
  EXPECT_THAT(all.command, ElementsAre("ls", "-q", "--", "x"));
}

TEST(RunOptions, LeaveStdoutToAPage) {
  for (const char* other : {"-o", "--json"}) {
    EXPECT_THAT(answer_of({"run", other, "-", "--html", "-", "--", "true"}).text,
                HasSubstr("a page on stdout is alone there: give --html a file"));
  }
}

/// It is a variable of a script that is not set.
TEST(AnOption, TakesNoEmptyValue) {
  const std::vector<std::vector<const char*>> lines = {{"compare", "a", "b", "--fail-above", ""},
                                                       {"track", "--pid", "1", "--duration", ""},
                                                       {"bench", "true", "--runs", ""},
                                                       {"bench", "true", "--reference", ""},
                                                       {"history", "--since", ""},
                                                       {"history", "--tag", ""},
                                                       {"monitor", "out", "--interval", ""},
                                                       {"power", "--domain", ""}};
  for (const auto& words : lines) {
    EXPECT_THAT(answer_of(words).text, HasSubstr(": takes a value, not nothing")) << words[0];
  }
  EXPECT_THAT(answer_of({"run", "--json", "", "--", "true"}).text,
              HasSubstr("--json: takes a path, not nothing"));
  EXPECT_THAT(answer_of({"summary", ""}).text, HasSubstr("takes a path, not nothing"));
  EXPECT_TRUE(std::holds_alternative<BenchOptions>(parse({"bench", "true", "--prepare", ""})))
      << "as hyperfine has it: nothing to be done before this command";
}

TEST(MonitorOptions, AreRefusedWithTheStatusOfAWrongOption) {
  EXPECT_THAT(answer_of({"monitor"}).text, StartsWith("wattle monitor: a folder is missing"));
  EXPECT_THAT(answer_of({"monitor", "out", "--"}).text,
              StartsWith("wattle monitor: no command given after --"));
  for (const char* interval : {"0", "-1", "0.0009", "86401", "x"}) {
    const Answer answer = answer_of({"monitor", "out", "--interval", interval});
    EXPECT_EQ(answer.exit_status, kUsageError) << interval;
    EXPECT_THAT(answer.text, HasSubstr("--interval takes a number of seconds from 0.001 to 86400"));
  }
  EXPECT_EQ(answer_of({"monitor", "out", "ls"}).exit_status, kUsageError);
}

TEST(SummaryOptions, AreAFolderAndWhatIsAdded) {
  const Options options = parse({"summary", "out", "--json", "--allocator-peak-mb", "1024.5"});
  ASSERT_TRUE(std::holds_alternative<SummaryOptions>(options));
  EXPECT_EQ(std::get<SummaryOptions>(options).path, "out");
  EXPECT_TRUE(std::get<SummaryOptions>(options).json);
  EXPECT_EQ(std::get<SummaryOptions>(options).allocator_peak_mb, 1024.5);
}

TEST(Options, OfARunHaveTheUnitsOfGpuTracker) {
  const Options chosen = parse({"run", "--ram-unit", "bytes", "--gpu-ram-unit", "megabytes",
                                "--time-unit", "hours", "true"});
  ASSERT_TRUE(std::holds_alternative<RunOptions>(chosen));
  EXPECT_EQ(std::get<RunOptions>(chosen).ram_unit, "bytes");
  EXPECT_EQ(std::get<RunOptions>(chosen).gpu_ram_unit, "megabytes");
  EXPECT_EQ(std::get<RunOptions>(chosen).time_unit, "hours");
  for (const char* option : {"--ram-unit", "--gpu-ram-unit", "--time-unit"}) {
    const Options wrong = parse({"run", option, "gib", "true"});
    ASSERT_TRUE(std::holds_alternative<Answer>(wrong)) << option;
    EXPECT_NE(std::get<Answer>(wrong).text.find("Valid values are"), std::string::npos) << option;
  }
}

TEST(Options, OfASummaryTakeWhatTheProbePrintsWhereItDoesNotKnow) {
  const Options options = parse({"summary", "out", "--allocator-peak-mb", "None"});
  ASSERT_TRUE(std::holds_alternative<SummaryOptions>(options));
  EXPECT_EQ(std::get<SummaryOptions>(options).allocator_peak_mb, std::nullopt);
}

TEST(SummaryOptions, AreRefusedWithTheStatusOfAWrongOption) {
  for (const std::vector<const char*>& words : {std::vector<const char*>{"summary"},
                                                {"summary", ""},
                                                {"summary", "a", "b"},
                                                {"summary", "a", "--allocator-peak-mb", "-1"},
                                                {"summary", "a", "--allocator-peak-mb", "x"},
                                                {"summary", "a", "--allocator-peak-mb", ""}}) {
    const Options options = parse(words);
    ASSERT_TRUE(std::holds_alternative<Answer>(options));
    EXPECT_EQ(std::get<Answer>(options).exit_status, kUsageError);
  }
}

}  // namespace
}  // namespace wattle::app
