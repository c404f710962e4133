// `wattle run --save`, `wattle history`, `wattle config`, `wattle report`.
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "command.hpp"

namespace wattle::integration {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr int kNoSuchRun = 1;

class HistoryCommand : public CommandTest {
 protected:
  /// With a home of its own.
  [[nodiscard]] Start at_home(Start start) const {
    start.environment["XDG_STATE_HOME"] = path("state").string();
    start.environment["XDG_CONFIG_HOME"] = path("config").string();
    start.environment["WATTLE_HISTORY"] = std::nullopt;
    start.environment["WATTLE_SAVE"] = std::nullopt;
    return start;
  }
  [[nodiscard]] Outcome run_saved(const Words& options, const Words& command) const {
    return run(at_home(wattle_run(Words{"--quiet"} + options, command)));
  }
  [[nodiscard]] Outcome history(const Words& words) const {
    return run(at_home(wattle(Words{"history"} + words)));
  }
  [[nodiscard]] Json list(const Words& options = {}) const {
    return parse_json(history(Words{"--json"} + options).out)["runs"];
  }
};

TEST_F(HistoryCommand, ListsASavedRun) {
  Start start = at_home(wattle_run({"--save"}, {"sh", "-c", "exit 3"}));
  const Outcome saved = run(start);
  EXPECT_EQ(saved.code(), 3);
  EXPECT_THAT(saved.err, ContainsRegex("saved as [0-9a-z]{8}\n"));
  const Json runs = list();
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(runs[0]["command"], "sh -c 'exit 3'");
  EXPECT_EQ(runs[0]["exit_code"], 3);
  EXPECT_THAT(saved.err, HasSubstr(std::string(runs[0]["id"])));
  EXPECT_THAT(history({}).out, AllOf(StartsWith("id"), HasSubstr("sh -c 'exit 3'")));
}

TEST_F(HistoryCommand, KeepsOnWhichMachineAndSinceWhichStartOfItARunWas) {
  ASSERT_EQ(run_saved({"--save"}, {"true"}).code(), 0);
  std::string boot_id;
  ASSERT_TRUE(std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot_id));
  EXPECT_EQ(parse_json(history({"export"}).out)["record"]["host"]["boot_id"], boot_id);
}

TEST_F(HistoryCommand, ShowsThePhasesOfARun) {
  Start start = at_home(wattle_run({"--save", "--quiet"},
                                   {"sh", "-c", "\"$W\" mark load; \"$W\" mark 'tr\x1b[2Jain'"}));
  start.environment["W"] = wattle_program();
  ASSERT_EQ(run(start).code(), 0);
  const std::string text = history({"show", std::string(list()[0]["id"])}).out;
  EXPECT_THAT(text, ContainsRegex("phase +time +energy"));
  EXPECT_THAT(text, ContainsRegex("\n +load +[0-9.]+ s"));
  EXPECT_THAT(text, HasSubstr("tr\\x1b[2Jain"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST_F(HistoryCommand, ListsRunsWhereTheDiskIsFull) {
  constexpr int kNoSmallDisk = 99;
  std::filesystem::create_directory(path("disk"));
  constexpr const char* kScript =
      "\"$0\" run --save --quiet -- true || exit\n"
      "head -c 500k /dev/zero > \"$1/filler\" 2> \"$2\"\n"
      "\"$0\" history && \"$0\" history rm \"$(\"$0\" history --csv | sed -n '2s/,.*//p')\"";
  Start start =
      at_home({.command = {"sh", "-c", kScript, wattle_program(), path("disk"), path("x")}});
  start.environment["WATTLE_HISTORY"] = path("disk/history.db").string();
  start.folder = folder_.path();
  start.prepare = [disk = path("disk").string()] {
    if (!mount_memory(disk, "size=400k")) ::_exit(kNoSmallDisk);
  };
  const Outcome outcome = run(start);
  if (outcome.code() == kNoSmallDisk) GTEST_SKIP() << "no disk can be mounted here";
  EXPECT_THAT(outcome.out, AllOf(StartsWith("id"), HasSubstr("true")));
  EXPECT_EQ(outcome.code(), kFailed);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("cannot write"), HasSubstr("No space left on device")));
}

TEST_F(HistoryCommand, ALimitOfFileSizesIsNamedAndEndsNothing) {
  constexpr rlim_t kKiB = 1024;
  for (const rlim_t limit : {0 * kKiB, 1 * kKiB, 9 * kKiB, 33 * kKiB, 49 * kKiB}) {
    std::filesystem::remove_all(path("state"));
    const auto limited = [&](Start start) {
      start.prepare = [limit] {
        const rlimit small{limit, limit};
        ::setrlimit(RLIMIT_FSIZE, &small);
      };
      return run(start);
    };
    const Outcome first =
        limited(at_home(wattle_run({"--save", "--quiet"}, {"sh", "-c", "exit 7"})));
    EXPECT_EQ(first.code(), 7) << limit;
    EXPECT_THAT(first.err, AllOf(HasSubstr("File too large, by the limit of the user or the disk; "
                                           "see ulimit -f"),
                                 Not(HasSubstr("Input/output error"))))
        << limit;
    // The log of a history is written into it when it is closed.
    for (int i = 0; i < 9; ++i) {
      ASSERT_EQ(run_saved({"--save", "--tag", "n=" + std::to_string(i)}, {"true"}).code(), 0);
    }
    for (const char* what : {"list", "check"}) {
      const Words words = what == std::string_view("list") ? Words{} : Words{what};
      const Outcome outcome =
          limited(at_home({.command = Words{wattle_program(), "history"} + words}));
      EXPECT_FALSE(outcome.signal()) << what << ' ' << limit << ": " << outcome.err;
      EXPECT_THAT(outcome.err, Not(HasSubstr("Input/output error"))) << what << ' ' << limit;
    }
  }
}

TEST_F(HistoryCommand, SavesNothingUnasked) {
  EXPECT_EQ(run_saved({}, {"true"}).code(), 0);
  const Outcome none = history({});
  EXPECT_EQ(none.code(), kFailed);
  EXPECT_THAT(none.err, HasSubstr("there is no history yet"));
  EXPECT_FALSE(std::filesystem::exists(path("state/wattle/history.db")));
}

TEST_F(HistoryCommand, SavesWhatTheEnvironmentOrATagAsksFor) {
  Start start = at_home(wattle_run({"--quiet"}, {"true"}));
  start.environment["WATTLE_SAVE"] = "1";
  EXPECT_EQ(run(start).code(), 0);
  EXPECT_EQ(run_saved({"--tag", "branch=main", "--tag", "n=1"}, {"true"}).code(), 0);
  start.command = wattle_run({"--quiet", "--no-save"}, {"true"}).command;
  EXPECT_EQ(run(start).code(), 0);
  EXPECT_THAT(list(), SizeIs(2));
  const Json tagged = list({"--tag", "branch=main"});
  ASSERT_THAT(tagged, SizeIs(1));
  EXPECT_EQ(tagged[0]["tags"], (Json{{"branch", "main"}, {"n", "1"}}));
}

TEST_F(HistoryCommand, ShowsExportsRemovesAndImports) {
  ASSERT_EQ(run_saved({"--save", "--tag", "k=v"}, {"echo", "a b"}).code(), 0);
  ASSERT_EQ(run_saved({"--save"}, {"true"}).code(), 0);
  const std::string id = list({"--command", "echo"})[0]["id"];
  EXPECT_THAT(history({"show", id.substr(0, 6)}).out,
              AllOf(HasSubstr("echo 'a b': exit 0"), HasSubstr("k=v")));
  EXPECT_EQ(parse_json(history({"show", id, "--json"}).out)["schema"], "wattle.saved/1");

  const Outcome exported = history({"export"});
  folder_.write("runs.jsonl", exported.out);
  EXPECT_THAT(history({"export", "--csv"}).out, StartsWith("id,started_unix_s,"));
  EXPECT_EQ(history({"rm", id}).code(), 0);
  EXPECT_EQ(history({"rm", id}).code(), kNoSuchRun);
  EXPECT_THAT(list(), SizeIs(1));
  const Outcome imported = history({"import", path("runs.jsonl").string()});
  EXPECT_EQ(imported.code(), 0);
  EXPECT_THAT(imported.err, HasSubstr("runs added: 1, there already: 1, lines that are no run: 0"));
  EXPECT_EQ(history({"export"}).out, exported.out);
}

TEST_F(HistoryCommand, ImportsRecordsOfRunsAndNamesBadLines) {
  const std::string file = path("runs.jsonl").string();
  for (int i = 0; i < 2; ++i) {
    (void)run(wattle_run({"--quiet", "--append", "--json", file}, {"true"}));
  }
  std::ofstream(file, std::ios::app) << "{\"schema\":\"wattle.run/2\"\n{\"half";
  const Outcome imported = history({"import", file});
  EXPECT_EQ(imported.code(), kFailed);
  EXPECT_THAT(imported.err, AllOf(HasSubstr("line 3"), HasSubstr("runs added: 2")));
  EXPECT_THAT(list(), SizeIs(2));
}

TEST_F(HistoryCommand, ImportsFromStdinAndALastLineWithoutAnEnd) {
  const std::string file = path("runs.jsonl").string();
  (void)run(wattle_run({"--quiet", "--json", file}, {"true"}));
  std::string line = content_of(file);
  line.pop_back();
  std::ofstream(file) << line;
  Start start = at_home(wattle({"history", "import", "-"}));
  start.command = {"sh", "-c", "\"$@\" < '" + file + "'", "sh"};
  for (const std::string& word : wattle({"history", "import", "-"}).command) {
    start.command.push_back(word);
  }
  const Outcome imported = run(start);
  EXPECT_EQ(imported.code(), 0) << imported.err;
  EXPECT_THAT(list(), SizeIs(1));
}

TEST_F(HistoryCommand, SaysWhyAFolderCannotBeImported) {
  const Outcome imported = history({"import", path("").string()});
  EXPECT_EQ(imported.code(), kFailed);
  EXPECT_THAT(imported.err, HasSubstr("it is a folder"));
}

TEST_F(HistoryCommand, TakesOneWordAsATag) {
  Start start = at_home(wattle({"bench", "-r", "1", "-N", "--tag", "d=3", "true"}));
  EXPECT_EQ(run(start).code(), 0);
  start.command = wattle({"run", "--quiet", "--tag", "d=3", "true"}).command;
  EXPECT_EQ(run(start).code(), 0);
  EXPECT_THAT(list({"--tag", "d=3"}), SizeIs(2));
}

TEST_F(HistoryCommand, IsARegularFile) {
  Start start = at_home(wattle({"history"}));
  start.environment["WATTLE_HISTORY"] = "/dev/null";
  EXPECT_THAT(run(start).err, HasSubstr("the history /dev/null is no regular file"));
}

TEST_F(HistoryCommand, NeverChangesTheRunWhereItCannotSave) {
  folder_.write("state", "not a folder");
  const Outcome outcome = run_saved({"--save"}, {"sh", "-c", "echo out; exit 4"});
  EXPECT_EQ(outcome.code(), 4);
  EXPECT_EQ(outcome.out, "out\n");
  EXPECT_THAT(outcome.err, HasSubstr("wattle run: the run is not saved: cannot"));
}

TEST_F(HistoryCommand, KeepsTheStateOfTheRepository) {
  const std::string repository = path("project").string();
  const std::string make =
      "git init -q -b topic \"$0\" && cd \"$0\" && git config user.email a@b && git config "
      "user.name "
      "a && echo 1 > f && git add f && git commit -qm a";
  if (run({.command = {"sh", "-c", make, repository}}).code() != 0) {
    GTEST_SKIP() << "there is no git";
  }
  const auto git_of_new_run = [&] {
    Start start = at_home(wattle_run({"--quiet", "--save"}, {"true"}));
    start.folder = repository;
    EXPECT_EQ(run(start).code(), 0);
    return parse_json(history({"show", list()[0]["id"], "--json"}).out)["git"];
  };
  const Json clean = git_of_new_run();
  EXPECT_EQ(clean["branch"], "topic");
  EXPECT_EQ(clean["dirty"], false);
  EXPECT_THAT(std::string(clean["commit"]), SizeIs(40));
  std::ofstream(repository + "/untracked") << "x";
  EXPECT_EQ(git_of_new_run()["dirty"], false);
  std::ofstream(repository + "/f") << "2";
  EXPECT_EQ(git_of_new_run()["dirty"], true);
}

TEST_F(HistoryCommand, SaysWhatIsWrongWithTheLine) {
  EXPECT_THAT(history({"shw", "x"}).err, HasSubstr("unknown action shw; did you mean show?"));
  EXPECT_THAT(history({"show"}).err, HasSubstr("a run is missing: wattle history show ID"));
  EXPECT_THAT(history({"--since", "soon"}).err, HasSubstr("--since takes a date"));
  EXPECT_THAT(history({"--limit", "0"}).err, HasSubstr("--limit takes a number from 1 on"));
  EXPECT_THAT(run_saved({"--tag", "x"}, {"true"}).err, HasSubstr("--tag takes KEY=VALUE"));
  EXPECT_EQ(history({"--limit", "0"}).code(), kUsage);
}

TEST_F(HistoryCommand, IsConfigured) {
  const auto config = [&](const Words& words) {
    return run(at_home(wattle(Words{"config"} + words)));
  };
  EXPECT_EQ(config({"get", "save"}).out, "no\n");
  EXPECT_EQ(config({"set", "save", "yes"}).code(), 0);
  EXPECT_EQ(config({"set", "tags", "machine=a"}).code(), 0);
  EXPECT_THAT(config({}).out, ContainsRegex("save +yes +/.*config/wattle/config, line 1"));
  EXPECT_THAT(config({"set", "save", "maybe"}).err, HasSubstr("save takes yes or no, not 'maybe'"));
  EXPECT_EQ(config({"set", "save", "maybe"}).code(), kUsage);
  EXPECT_THAT(config({"set", "sav", "yes"}).err, HasSubstr("did you mean save?"));
  EXPECT_EQ(run_saved({}, {"true"}).code(), 0);
  EXPECT_EQ(list()[0]["tags"], (Json{{"machine", "a"}}));
  EXPECT_EQ(config({"unset", "save"}).code(), 0);
  EXPECT_EQ(config({"get", "save"}).out, "no\n");
}

TEST_F(HistoryCommand, ReplacesNoConfigurationThatItCannotRead) {
  std::filesystem::create_directories(path("config/wattle/config"));
  const auto config = [&](const Words& words) {
    return run(at_home(wattle(Words{"config"} + words)));
  };
  EXPECT_THAT(config({}).err, ContainsRegex("ignored: cannot read .*/wattle/config: Is a dir"));
  const Outcome outcome = config({"set", "save", "yes"});
  EXPECT_THAT(outcome.err, HasSubstr("wattle config: cannot read "));
  EXPECT_EQ(outcome.code(), 125);
}

TEST_F(HistoryCommand, ReportsManyRunsAsOne) {
  for (int rank = 0; rank < 2; ++rank) {
    Start start = wattle_run({"--quiet", "--json", path("run-%r.json").string()}, {"true"});
    start.environment = {{"SLURM_JOB_ID", "77"},
                         {"SLURM_PROCID", std::to_string(rank)},
                         {"SLURM_LOCALID", std::to_string(rank)},
                         {"SLURM_STEP_NUM_TASKS", "4"}};
    ASSERT_EQ(run(start).code(), 0);
  }
  const Words files = {path("run-0.json").string(), path("run-1.json").string()};
  const Outcome report = run(wattle(Words{"report"} + files));
  EXPECT_EQ(report.code(), 0) << report.err;
  EXPECT_THAT(report.out, StartsWith("job 77: 1 node, 2 ranks, "));
  EXPECT_THAT(report.out, HasSubstr("ranks without a record: 2 to 3"));
  const Json json = parse_json(run(wattle(Words{"report", "--json"} + files)).out);
  EXPECT_EQ(json["schema"], "wattle.report/1");
  EXPECT_EQ(json["reports"][0]["missing_ranks"], (Json{2, 3}));
}

TEST_F(HistoryCommand, ReportsWhatCanBeRead) {
  const std::string good = path("good.json").string();
  ASSERT_EQ(run(wattle_run({"--quiet", "--json", good}, {"true"})).code(), 0);
  folder_.write("half.json", content_of(good).substr(0, 300));
  folder_.write("other.json", "{\"schema\":\"wattle.run/9\"}\n");
  const Outcome report = run(at_home(wattle(
      {"report", good, path("half.json"), path("other.json"), path("none.json"), "k3m9x2qa"})));
  EXPECT_EQ(report.code(), 1);
  EXPECT_THAT(report.out, StartsWith("1 machine, 1 run, "));
  EXPECT_THAT(report.err,
              AllOf(HasSubstr("half.json, line 1: its JSON is cut off"), HasSubstr("wattle.run/9"),
                    HasSubstr("none.json: No such file"), HasSubstr("there is no history yet")));
  const Outcome nothing = run(wattle({"report", path("half.json")}));
  EXPECT_EQ(nothing.code(), 2);
  EXPECT_THAT(nothing.err, HasSubstr("there is no run to report"));
}

}  // namespace
}  // namespace wattle::integration
