#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bench_options.hpp"
#include "cli/answer.hpp"
#include "cli/command_line.hpp"
#include "cli/shared_options.hpp"
#include "machine/doctor.hpp"
#include "machine/sensors.hpp"
#include "monitor/monitor.hpp"
#include "monitor/summary.hpp"
#include "parsed_line.hpp"
#include "run/run_options.hpp"
#include "stream/stream.hpp"
#include "watch/power_options.hpp"
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

RunOptions run_of(const std::vector<const char*>& words) { return options_of<RunOptions>(words); }

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
  EXPECT_THAT(answer_to({"run", "--interval"}).text,
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
    const Answer answer = answer_to(words);
    EXPECT_TRUE(answer.is_error);
    EXPECT_EQ(answer.exit_status, kRunFailed);
    EXPECT_THAT(answer.text, StartsWith("wattle run: "));
    EXPECT_THAT(answer.text, HasSubstr("\nTry: wattle run --help\n"));
  }
}

TEST(SurveyOptions, AreThoseOfSensorsAndDoctor) {
  const auto sensors =
      options_of<SensorsOptions>({"sensors", "--json", "--measure", "--sysfs", "/host/sys"});
  EXPECT_TRUE(sensors.json);
  EXPECT_TRUE(sensors.measure);
  EXPECT_FALSE(sensors.cross_check);
  EXPECT_EQ(sensors.system.sysfs, "/host/sys");
  EXPECT_FALSE(options_of<DoctorOptions>({"doctor"}).json);
}

TEST(DoctorOptions, FixOneThingAndRunNothing) {
  const auto options = options_of<DoctorOptions>({"doctor", "--fix", "daemon"});
  EXPECT_EQ(options.fix, FixTarget::daemon);
  EXPECT_FALSE(options.apply);
}

TEST(DoctorOptions, RefuseWhatCannotBeFixed) {
  EXPECT_THAT(answer_to({"doctor", "--fix", "disk"}).text,
              HasSubstr("--fix takes cpu, gpu or daemon, not 'disk'"));
  EXPECT_TRUE(answer_to({"doctor", "--apply"}).is_error);
  EXPECT_TRUE(answer_to({"doctor", "--fix", "cpu", "--json"}).is_error);
}

TEST(SurveyOptions, AreRefusedWithTheStatusOfWrongUsage) {
  for (const std::vector<const char*>& words : {std::vector<const char*>{"measure"},
                                                {"sensors", "extra"},
                                                {"doctor", "--no-such"},
                                                {"--no-such"},
                                                {""}}) {
    const Answer answer = answer_to(words);
    EXPECT_TRUE(answer.is_error);
    EXPECT_EQ(answer.exit_status, kUsageError);
    EXPECT_THAT(answer.text, HasSubstr("--help\n"));
  }
}

TEST(Options, OfNoProgramNameAreTheHelpToo) {
  const char* const* none = nullptr;
  EXPECT_FALSE(std::get<Answer>(parse_command_line(0, none)).is_error);
}

TEST(Options, GiveHelpForEachCommand) {
  EXPECT_THAT(answer_to({"--help"}).text, HasSubstr("doctor"));
  EXPECT_THAT(answer_to({"run", "--help"}).text, HasSubstr("wattle run [options] -- CMD [ARG...]"));
  EXPECT_THAT(answer_to({"sensors", "--help"}).text, HasSubstr("--sysfs"));
  for (const std::vector<const char*>& words :
       {std::vector<const char*>{"--help"}, {"run", "--help"}, {"doctor", "--help"}}) {
    EXPECT_FALSE(answer_to(words).is_error);
    EXPECT_EQ(answer_to(words).exit_status, 0);
  }
}

TEST(Options, GiveHelpOfTheCommandAfterHelp) {
  EXPECT_EQ(answer_to({"help"}).text, answer_to({"--help"}).text);
  EXPECT_EQ(answer_to({"help", "run"}).text, answer_to({"run", "--help"}).text);
  EXPECT_EQ(answer_to({"help", "run", "--", "x"}).text, answer_to({"run", "--help"}).text);
  EXPECT_THAT(options_of<StreamWords>({"help", "stream"}).words, ElementsAre("--help"));
  EXPECT_TRUE(answer_to({"help", "nothing"}).is_error);
}

TEST(Options, GiveTheVersion) {
  EXPECT_EQ(answer_to({"--version"}).text, "wattle " + std::string(version()) + "\n");
  EXPECT_EQ(answer_to({"-V"}).text, answer_to({"--version"}).text);
}

TEST(Options, AskWhetherANearOneWasMeant) {
  EXPECT_THAT(answer_to({"snesors"}).text,
              StartsWith("wattle: unknown command snesors; did you mean sensors?\n"));
  EXPECT_THAT(answer_to({"power", "--jsn"}).text,
              StartsWith("wattle power: unknown option --jsn; did you mean --json?\n"));
  EXPECT_THAT(answer_to({"run", "--quite", "--", "true"}).text,
              StartsWith("wattle run: unknown option --quite; did you mean --quiet?\n"));
  EXPECT_THAT(answer_to({"run", "--trace=x", "--", "true"}).text,
              StartsWith("wattle run: unknown option --trace\n"));
}

TEST(Options, AskWhetherAProgramWasToBeMeasured) {
  EXPECT_THAT(answer_to({"sleep", "1"}).text,
              StartsWith("wattle: unknown command sleep; did you mean wattle run -- sleep 1?\n"));
  EXPECT_THAT(answer_to({"/bin/sh", "-c", "a b", "c", "d"}).text,
              HasSubstr("did you mean wattle run -- /bin/sh -c 'a b' c ...?\n"));
  EXPECT_THAT(answer_to({"/"}).text, HasSubstr("wattle: unknown command /\n"));
}

TEST(Options, NameAnUnexpectedArgument) {
  EXPECT_THAT(answer_to({"sensors", "a b"}).text,
              StartsWith("wattle sensors: unexpected argument 'a b'\n"));
}

TEST(Options, AreQuotedPrintably) {
  for (const std::vector<const char*>& words :
       {std::vector<const char*>{"\x1b[2J"},
        {"run", "--\x1b[2J", "--", "x"},
        {"run", "--interval", "\x1b[2J", "--", "x"},
        {"run", "-o", "\x1b[2J", "--json", "\x1b[2J", "--", "x"}}) {
    EXPECT_THAT(answer_to(words).text, Not(HasSubstr("\x1b")));
  }
}

PowerOptions power_options(const std::vector<const char*>& words) {
  return options_of<PowerOptions>(words);
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
  const Answer answer = answer_to({"power", "--domain", "core"});
  EXPECT_EQ(answer.exit_status, kUsageError);
  EXPECT_THAT(answer.text, HasSubstr("device_instant, device_average, memory_average, "
                                     "module_instant, module_average, package or "
                                     "dram, not 'core'"));
}

TEST(PowerOptions, NameThePeriodInWhatIsWrongWithIt) {
  EXPECT_THAT(answer_to({"power", "--period", "0"}).text, HasSubstr("--period takes"));
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
  return options_of<MonitorOptions>(words);
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
    EXPECT_THAT(answer_to({"run", other, "-", "--html", "-", "--", "true"}).text,
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
    EXPECT_THAT(answer_to(words).text, HasSubstr(": takes a value, not nothing")) << words[0];
  }
  EXPECT_THAT(answer_to({"run", "--json", "", "--", "true"}).text,
              HasSubstr("--json: takes a path, not nothing"));
  EXPECT_THAT(answer_to({"summary", ""}).text, HasSubstr("takes a path, not nothing"));
  EXPECT_NE(options_in<BenchOptions>(parse_words({"bench", "true", "--prepare", ""})), nullptr)
      << "as hyperfine has it: nothing to be done before this command";
}

TEST(MonitorOptions, AreRefusedWithTheStatusOfAWrongOption) {
  EXPECT_THAT(answer_to({"monitor"}).text, StartsWith("wattle monitor: a folder is missing"));
  EXPECT_THAT(answer_to({"monitor", "out", "--"}).text,
              StartsWith("wattle monitor: no command given after --"));
  for (const char* interval : {"0", "-1", "0.0009", "86401", "x"}) {
    const Answer answer = answer_to({"monitor", "out", "--interval", interval});
    EXPECT_EQ(answer.exit_status, kUsageError) << interval;
    EXPECT_THAT(answer.text, HasSubstr("--interval takes a number of seconds from 0.001 to 86400"));
  }
  EXPECT_EQ(answer_to({"monitor", "out", "ls"}).exit_status, kUsageError);
}

TEST(SummaryOptions, AreAFolderAndWhatIsAdded) {
  const auto options =
      options_of<SummaryOptions>({"summary", "out", "--json", "--allocator-peak-mb", "1024.5"});
  EXPECT_EQ(options.path, "out");
  EXPECT_TRUE(options.json);
  EXPECT_EQ(options.allocator_peak_mb, 1024.5);
}

TEST(Options, OfARunHaveTheUnitsOfGpuTracker) {
  const RunOptions run = run_of({"run", "--ram-unit", "bytes", "--gpu-ram-unit", "megabytes",
                                 "--time-unit", "hours", "true"});
  EXPECT_EQ(run.ram_unit, "bytes");
  EXPECT_EQ(run.gpu_ram_unit, "megabytes");
  EXPECT_EQ(run.time_unit, "hours");
  for (const char* option : {"--ram-unit", "--gpu-ram-unit", "--time-unit"}) {
    EXPECT_THAT(answer_to({"run", option, "gib", "true"}).text, HasSubstr("Valid values are"))
        << option;
  }
}

TEST(Options, OfASummaryTakeWhatTheProbePrintsWhereItDoesNotKnow) {
  EXPECT_EQ(options_of<SummaryOptions>({"summary", "out", "--allocator-peak-mb", "None"})
                .allocator_peak_mb,
            std::nullopt);
}

TEST(SummaryOptions, AreRefusedWithTheStatusOfAWrongOption) {
  for (const std::vector<const char*>& words : {std::vector<const char*>{"summary"},
                                                {"summary", ""},
                                                {"summary", "a", "b"},
                                                {"summary", "a", "--allocator-peak-mb", "-1"},
                                                {"summary", "a", "--allocator-peak-mb", "x"},
                                                {"summary", "a", "--allocator-peak-mb", ""}}) {
    EXPECT_EQ(answer_to(words).exit_status, kUsageError);
  }
}

/// Which lines leave `main` the privileges to open counters.
TEST(Subcommands, ThatOpenNoCountersGiveUpPrivilegesFirst) {
  const auto opens_counters = [](const std::vector<const char*>& words) {
    const ParsedLine parsed = parse_words(words);
    const auto* const chosen = std::get_if<Chosen>(&parsed);
    EXPECT_NE(chosen, nullptr) << words.front();
    return chosen != nullptr && chosen->subcommand->opens_counters(chosen->options);
  };
  const std::vector<std::vector<const char*>> opening = {
      {"run", "true"},    {"run", "-q", "true"},
      {"bench", "true"},  {"sensors"},
      {"doctor"},         {"doctor", "-v"},
      {"power"},          {"energy"},
      {"baseline"},       {"top"},
      {"monitor", "out"}, {"monitor", "out", "--", "true"}};
  for (const auto& words : opening) EXPECT_TRUE(opens_counters(words)) << words.front();
  const std::vector<std::vector<const char*>> others = {{"doctor", "--fix", "cpu"},
                                                        {"doctor", "--fix", "gpu", "--apply"},
                                                        {"compare", "a", "b"},
                                                        {"track", "--pid", "1"},
                                                        {"summary", "out"},
                                                        {"history"},
                                                        {"config"},
                                                        {"mark", "a"},
                                                        {"report", "a"},
                                                        {"calibrate", "--meter", "a", "b"},
                                                        {"stream", "a"}};
  for (const auto& words : others) EXPECT_FALSE(opens_counters(words)) << words.front();
}

TEST(Subcommands, AreListedInGroups) {
  const std::string help = answer_to({"--help"}).text;
  std::size_t last = 0;
  for (const char* sign : {"\nMeasure:\n  run ", "\nCompare:\n  bench ", "\nWatch:\n  top ",
                           "\nSet up:\n  sensors "}) {
    const std::size_t at = help.find(sign);
    ASSERT_NE(at, std::string::npos) << sign << help;
    EXPECT_GE(at, last) << sign;
    last = at;
  }
}

TEST(Subcommands, HaveANameOfTheirOwnAndAllParts) {
  std::set<std::string_view> names;
  for (const Subcommand* const each : subcommands()) {
    EXPECT_TRUE(names.insert(each->name).second) << each->name;
    EXPECT_EQ(find_subcommand(each->name), each);
    EXPECT_FALSE(each->summary.empty()) << each->name;
    EXPECT_TRUE(each->add != nullptr || each->read != nullptr) << each->name;
    EXPECT_NE(each->run, nullptr) << each->name;
  }
  EXPECT_EQ(find_subcommand("wattle"), nullptr);
}

}  // namespace
}  // namespace wattle::app
