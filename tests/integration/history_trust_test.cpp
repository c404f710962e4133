// What is not trusted when runs are saved: the repository, the history, the settings.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "command.hpp"

namespace wattle::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class HistoryTrust : public CommandTest {
 protected:
  [[nodiscard]] Start at_home(Start start) const {
    start.environment["XDG_STATE_HOME"] = path("state").string();
    start.environment["XDG_CONFIG_HOME"] = path("config").string();
    start.environment["HOME"] = path("home").string();
    start.environment["GIT_CONFIG_NOSYSTEM"] = "1";
    return start;
  }
  [[nodiscard]] bool sh(const std::string& script, const std::string& folder) const {
    return run(at_home({.command = {"sh", "-ec", script}, .folder = folder})).code() == 0;
  }
  /// A repository with the files `a` and `b.txt`; false without git.
  [[nodiscard]] bool make_repository(const std::string& name) const {
    std::filesystem::create_directories(path(name));
    return sh(
        "git init -q -b topic . && git config user.email a@b && git config user.name a && "
        "echo 1 > a && echo 1 > b.txt && git add . && git commit -qm a",
        path(name).string());
  }
  [[nodiscard]] Json git_of_new_run(const std::string& repository) const {
    Start start = at_home(wattle_run({"--quiet", "--save"}, {"true"}));
    start.folder = path(repository);
    EXPECT_EQ(run(start).code(), 0);
    const Json list = parse_json(run(at_home(wattle({"history", "--json"}))).out)["runs"];
    return parse_json(
        run(at_home(wattle({"history", "show", list[0]["id"], "--json"}))).out)["git"];
  }
};

TEST_F(HistoryTrust, RunsNothingThatARepositoryNames) {
  if (!make_repository("project")) GTEST_SKIP() << "there is no git";
  const std::string evil = path("ran").string();
  ASSERT_TRUE(
      sh("for key in filter.evil.clean filter.evil.smudge filter.evil.process "
         "core.fsmonitor core.sshCommand diff.evil.command diff.evil.textconv pager.status; do "
         "git config $key 'touch " +
             evil +
             "; exec cat'; done; "
             "git config filter.evil.required true; mkdir -p .git/hooks; "
             "printf '#!/bin/sh\\ntouch " +
             evil +
             "\\n' > .git/hooks/post-index-change; "
             "chmod +x .git/hooks/*; echo 'a filter=evil diff=evil' > .git/info/attributes; "
             "touch -d '1 minute' a",
         path("project").string()));
  const Json touched = git_of_new_run("project");
  EXPECT_EQ(touched["dirty"], false) << "the same content";
  EXPECT_FALSE(std::filesystem::exists(evil));
  std::ofstream(path("project/a")) << "other";
  const Json filtered = git_of_new_run("project");
  EXPECT_EQ(filtered["dirty"], nullptr) << "a filter might make it the same";
  EXPECT_THAT(std::string(filtered["unknown"]), HasSubstr("go through a filter"));
  std::ofstream(path("project/b.txt")) << "other";
  EXPECT_EQ(git_of_new_run("project")["dirty"], true);
  EXPECT_FALSE(std::filesystem::exists(evil));
}

TEST_F(HistoryTrust, KnowsAChangeThatNoFilterUndoes) {
  if (!make_repository("project")) GTEST_SKIP() << "there is no git";
  const std::string folder = path("project").string();
  constexpr const char* kFilterAll =
      "git reset -q --hard; git config filter.f.clean cat; echo '* filter=f' > "
      ".git/info/attributes";
  const auto dirty_after = [&](const std::string& change) {
    EXPECT_TRUE(sh(kFilterAll, folder));
    EXPECT_TRUE(sh(change, folder)) << change;
    return git_of_new_run("project")["dirty"];
  };
  EXPECT_EQ(dirty_after("true"), false);
  EXPECT_EQ(dirty_after("echo 22 > a"), nullptr);
  EXPECT_EQ(dirty_after("echo 22 > a && git add a"), true) << "it is in the index";
  EXPECT_EQ(dirty_after("rm a"), true);
  EXPECT_EQ(dirty_after("git mv a c"), true);
  EXPECT_EQ(dirty_after("echo 22 > a && echo 'a -filter' >> .git/info/attributes"), true);
}

TEST_F(HistoryTrust, RunsNothingThatASubmoduleNames) {
  if (!make_repository("project") || !make_repository("part")) GTEST_SKIP() << "there is no git";
  const std::string evil = path("ran").string();
  ASSERT_TRUE(sh("git -c protocol.file.allow=always submodule -q add " + path("part").string() +
                     " part && "
                     "git commit -qm s && cd part && git config filter.evil.clean 'touch " +
                     evil +
                     "; cat' && "
                     "git config core.fsmonitor 'touch " +
                     evil +
                     "' && echo 'a filter=evil' > .gitattributes && "
                     "touch -d '1 minute' a",
                 path("project").string()));
  EXPECT_EQ(git_of_new_run("project")["dirty"], false);
  EXPECT_FALSE(std::filesystem::exists(evil));
}

TEST_F(HistoryTrust, KillsAGitThatHangsWithWhatItStarted) {
  if (!make_repository("project")) GTEST_SKIP() << "there is no git";
  const std::string bin = path("bin").string();
  std::filesystem::create_directories(bin);
  std::ofstream(bin + "/git") << "#!/bin/sh\nsleep 61.25 &\nwait\n";
  std::filesystem::permissions(bin + "/git", std::filesystem::perms::owner_all);
  Start start =
      at_home(wattle_run({"--quiet", "--save"}, {"sh", "-c", "pgrep -f 'sleep 61[.]25'; exit 3"}));
  start.environment["PATH"] = bin + ":/usr/bin:/bin";
  start.folder = path("project");
  const Outcome outcome = run(start);
  EXPECT_EQ(outcome.code(), 3);
  EXPECT_THAT(outcome.out, IsEmpty()) << "nothing of it runs beside the command";
}

TEST_F(HistoryTrust, RunsTheCommandWithoutAWorkingFolder) {
  Start start = at_home(
      {.command = {"sh", "-c", "mkdir gone && cd gone && rmdir ../gone && exec \"$@\"", "sh"}});
  for (const std::string& word :
       wattle_run({"--save", "--quiet"}, {"sh", "-c", "echo out; exit 4"}).command) {
    start.command.push_back(word);
  }
  start.folder = folder_.path();
  start.environment["WATTLE_HISTORY"] = "history.db";
  const Outcome outcome = run(start);
  EXPECT_EQ(outcome.code(), 4);
  EXPECT_EQ(outcome.out, "out\n");
  EXPECT_THAT(outcome.err, HasSubstr("nothing is saved: WATTLE_HISTORY names no history"));
}

TEST_F(HistoryTrust, RunsTheCommandWhateverTheHistoryIs) {
  ASSERT_EQ(run(at_home(wattle_run({"--save", "--quiet"}, {"true"}))).code(), 0);
  const std::string file = path("state/wattle/history.db").string();
  {
    std::fstream history(file, std::ios::in | std::ios::out | std::ios::binary);
    history.seekp(60);
    history.write("\xff\xff\xff\xff", 4);  // user_version
  }
  const Outcome outcome = run(at_home(wattle_run({"--save", "--quiet"}, {"sh", "-c", "exit 5"})));
  EXPECT_EQ(outcome.code(), 5);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("is of version -1"), HasSubstr("the run waits in")));
}

TEST_F(HistoryTrust, RefusesALineEndInTheNameOfTheHistory) {
  Start start = at_home(wattle_run({"--save", "--quiet"}, {"true"}));
  start.environment["WATTLE_HISTORY"] = path("a\nb.db").string();
  const Outcome outcome = run(start);
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.err, HasSubstr("nothing is saved"));
  EXPECT_THAT(outcome.err, HasSubstr("a\\x0ab.db"));
  EXPECT_FALSE(std::filesystem::exists(path("state")));
}

TEST_F(HistoryTrust, SaysOnceThatTheConfigurationIsBinary) {
  std::filesystem::create_directories(path("config/wattle"));
  const std::string line = std::string("\x01\x00\x02 = x\n", 8);
  {
    std::ofstream file(path("config/wattle/config"), std::ios::binary);
    for (int i = 0; i < 100'000; ++i) file << line;
  }
  const Outcome binary = run(at_home(wattle({"config"})));
  EXPECT_LT(binary.err.size(), 500U);
  EXPECT_THAT(binary.err, HasSubstr("is no text file"));
  {
    std::ofstream file(path("config/wattle/config"));
    for (int i = 0; i < 100'000; ++i) file << "no = setting\n";
  }
  const Outcome text = run(at_home(wattle({"config"})));
  EXPECT_LT(text.err.size(), 2000U);
  EXPECT_THAT(text.err, HasSubstr("99995 more lines"));
}

TEST_F(HistoryTrust, ReadsAHistoryThatItMayNotWrite) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root is two users";
  ASSERT_EQ(run(at_home(wattle_run({"--save", "--quiet"}, {"echo", "mine"}))).code(), 0);
  const std::string file = path("state/wattle/history.db").string();
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  for (const char* folder : {"", "state", "state/wattle"})
    ASSERT_EQ(::chmod(path(folder).c_str(), 0755), 0);
  Start start = wattle({"history"});
  start.environment["WATTLE_HISTORY"] = file;
  start.environment["HOME"] = "/nonexistent";
  start.prepare = [] {
    constexpr uid_t kNobody = 65534;
    if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(99);
  };
  const Outcome outcome = run(start);
  if (outcome.code() == kNotExecutable || outcome.status == -1)
    GTEST_SKIP() << "nobody may not run it";
  EXPECT_EQ(outcome.code(), 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("echo mine"));
}

TEST_F(HistoryTrust, ReadsAHistoryOnAFileSystemThatOnlyReads) {
  ASSERT_EQ(run(at_home(wattle_run({"--save", "--quiet"}, {"echo", "mine"}))).code(), 0);
  const std::string folder = path("state/wattle").string();
  // In namespaces of its own anybody may mount.
  const auto alone = [&](const std::string& script) {
    return run(at_home({.command = {"unshare", "-rm", "sh", "-ec",
                                    "mount --bind \"$1\" \"$1\"; "
                                    "mount -o remount,ro,bind \"$1\"; " +
                                        script,
                                    "sh", folder, wattle_program()}}));
  };
  if (alone("true").code() != 0) GTEST_SKIP() << "nothing can be mounted here";
  const Outcome listed = alone("exec \"$2\" history");
  EXPECT_EQ(listed.code(), 0) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("echo mine"));
  const Outcome saved = alone("exec \"$2\" run --save --quiet -- sh -c 'exit 3'");
  EXPECT_EQ(saved.code(), 3);
  EXPECT_THAT(saved.err, HasSubstr("Read-only file system"));
}

TEST_F(HistoryTrust, ExportsWhatIsWholeAndNamesTheRest) {
  for (const char* word : {"one", "two", "three"}) {
    ASSERT_EQ(run(at_home(wattle_run({"--save", "--quiet"}, {"echo", word}))).code(), 0);
  }
  if (run({.command = {"python3", "-c", "import sqlite3"}}).code() != 0)
    GTEST_SKIP() << "no python3";
  const std::string change =
      "import sqlite3, sys\n"
      "d = sqlite3.connect(sys.argv[1])\n"
      "r = bytearray(d.execute('SELECT record FROM records WHERE run = 2').fetchone()[0])\n"
      "r[len(r) // 2] ^= 1\n"
      "d.execute('UPDATE records SET record = ? WHERE run = 2', (bytes(r),)); d.commit()\n";
  ASSERT_EQ(run({.command = {"python3", "-c", change, path("state/wattle/history.db")}}).code(), 0);
  const Outcome exported = run(at_home(wattle({"history", "export"})));
  EXPECT_EQ(exported.code(), 1);
  EXPECT_EQ(std::count(exported.out.begin(), exported.out.end(), '\n'), 2);
  EXPECT_THAT(exported.err, HasSubstr("is damaged"));
  const Outcome checked = run(at_home(wattle({"history", "check"})));
  EXPECT_EQ(checked.code(), 1);
  EXPECT_EQ(checked.out, "3 runs checked: 2 whole, 0 repaired, 1 damaged\n");
  const Outcome shown = run(at_home(wattle({"history"})));
  EXPECT_EQ(shown.code(), 0) << "its row is whole";
}

TEST_F(HistoryTrust, RemovesTheSocketsOfRunsThatWereKilled) {
  std::filesystem::create_directories(path("run"));
  Start start = wattle_run({"--quiet"}, {"sh", "-c", "kill -9 $PPID; sleep 0.1"});
  start.environment["XDG_RUNTIME_DIR"] = path("run").string();
  (void)run(start);
  EXPECT_FALSE(std::filesystem::is_empty(path("run")));
  // Runs that are shorter do not look for them.
  start.command = wattle_run({"--quiet"}, {"sleep", "2.1"}).command;
  EXPECT_EQ(run(start).code(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(path("run")));
}

TEST_F(HistoryTrust, KeepsTheNameOfAJobWithinItsFolder) {
  Start start = wattle_run({"--quiet", "--json", "run-%j.json"}, {"true"});
  start.environment["SLURM_JOB_ID"] = "../../evil";
  start.folder = folder_.path();
  EXPECT_EQ(run(start).code(), 0);
  EXPECT_TRUE(std::filesystem::exists(path("run-.._.._evil.json")));
}

TEST_F(HistoryTrust, RefusesATimeThatNoRunTakes) {
  const std::string file = path("run.json").string();
  Json json = measure({}, {"true"}).json;
  json["energy"]["total_j"] = 100.0;
  for (const char* wall : {"5e-324", "1e300", "-1"}) {
    json["wall_s"] = parse_json(wall);
    std::ofstream(file) << json.dump() << "\n";
    const Outcome outcome = run(wattle({"report", file}));
    EXPECT_EQ(outcome.code(), 2) << wall << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr("no run has its wall_s or total_j")) << wall;
  }
}

TEST_F(HistoryTrust, ShowsLongNamesInColumns) {
  const std::string name = "hwmon_" + std::string(34, '0');
  Json json = measure({}, {"true"}).json;
  json["energy"]["domains"] =
      Json::array({{{"name", name}, {"energy_j", 20.0}, {"uncertainty_j", 1.0}}});
  std::ofstream(path("run.json")) << json.dump() << "\n";
  ASSERT_EQ(run(at_home(wattle({"history", "import", path("run.json")}))).code(), 0);
  const Json list = parse_json(run(at_home(wattle({"history", "--json"}))).out)["runs"];
  const Outcome shown = run(at_home(wattle({"history", "show", list[0]["id"]})));
  EXPECT_THAT(shown.out, HasSubstr("  " + name + "  20"));
  EXPECT_THAT(shown.out, HasSubstr("time" + std::string(40, ' '))) << "all values in one column";
}

}  // namespace
}  // namespace wattle::integration
