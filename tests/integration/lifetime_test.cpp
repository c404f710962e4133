// What lives and dies with what: wattle, the command, and a PID namespace.
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "command.hpp"
#include "sanitized.hpp"
#include "usage/process/process.hpp"

namespace wattle::integration {
namespace {

using testing::Eq;
using testing::HasSubstr;
using testing::StartsWith;

class Lifetime : public CommandTest {};

TEST_F(Lifetime, TheCommandSurvivesTheSigkillOfWattle) {
  Process process(wattle_run({}, child({"print", "ready", "read_line", "print", "finished"})));
  ASSERT_TRUE(process.prints("ready\n"));
  process.send(SIGKILL);
  EXPECT_EQ(process.wait().signal(), SIGKILL);
  process.write_input("go\n");
  EXPECT_EQ(process.rest_of_output(), "ready\nfinished\n");
}

TEST_F(Lifetime, TheLauncherEndsWithAWattleThatIsKilledBeforeTheStart) {
  // Opening a FIFO without a writer keeps wattle waiting between its fork and the start.
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // its orphan comes to us
  Process process(wattle_run({"--nvml-library", path("fifo")}, {"touch", path("trace")}));
  ASSERT_TRUE(eventually([] {
    const auto descendants = live_descendants(System{});
    return descendants && descendants->size() == 2;
  }));
  process.send(SIGKILL);
  EXPECT_EQ(process.wait().signal(), SIGKILL);
  int status = 0;
  EXPECT_TRUE(eventually([&] { return ::waitpid(-1, &status, WNOHANG) > 0; }));
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_FALSE(std::filesystem::exists(path("trace")));
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_F(Lifetime, TheRunEndsWithTheCommandNotWithWhatItLeaves) {
  const auto [outcome, json] =
      measure({}, child({"daemon", "[", "pid", "detach", "pause", "]", "exit", "7"}));
  EXPECT_EQ(outcome.code(), 7);
  const pid_t survivor = std::stoi(outcome.out);
  const Json& still_running = json["resource_usage"]["still_running"];
  ASSERT_EQ(still_running.size(), 1U);
  EXPECT_EQ(still_running[0]["pid"], survivor);
  EXPECT_EQ(still_running[0]["name"], "test_child");
  EXPECT_EQ(::kill(survivor, SIGKILL), 0) << "it did not survive";
}

TEST_F(Lifetime, TheReportNamesWhatIsLeft) {
  const Outcome outcome =
      run(wattle_run({}, child({"daemon", "[", "pid", "detach", "pause", "]"})));
  const pid_t survivor = std::stoi(outcome.out);
  EXPECT_THAT(outcome.err, testing::ContainsRegex("still running +" + std::to_string(survivor) +
                                                  " \\(test_child\\)"));
  ::kill(survivor, SIGKILL);
}

TEST_F(Lifetime, WhatHasEndedIsNotStillRunning) {
  const auto [outcome, json] = measure({}, child({"daemon", "[", "print", "hello", "]"}));
  EXPECT_EQ(json["resource_usage"]["still_running"], Json::array());
}

TEST_F(Lifetime, WithTooFewDescriptorsTheRunFailsBeforeItsCommandOrGoesWell) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "UndefinedBehaviorSanitizer needs descriptors and processes of its own";
#endif
  // Every call that needs a descriptor is the one that gets none, once.
  constexpr rlim_t kEnoughForAnyProgram = 4;
  constexpr rlim_t kEnoughForWattle = 40;
  bool has_failed = false;
  for (rlim_t count = kEnoughForAnyProgram; count <= kEnoughForWattle; ++count) {
    Start start = wattle_run({"-o", path("report")}, child({"print", "ran", "exit", "7"}));
    start.prepare = [=] {
      for (int fd = 3; fd < 1024; ++fd) ::close(fd);  // what the tests' caller left open
      const rlimit limit{count, count};
      ::setrlimit(RLIMIT_NOFILE, &limit);
    };
    const Outcome outcome = run(start);
    SCOPED_TRACE(std::to_string(count) + " descriptors; " + outcome.err);
    if (outcome.code() == kFailed) {
      has_failed = true;
      EXPECT_EQ(outcome.out, "");
      EXPECT_THAT(outcome.err, StartsWith("wattle run: "));
    } else {
      EXPECT_EQ(outcome.code(), 7);
      EXPECT_TRUE(has_report(content_of(path("report"))));
    }
  }
  EXPECT_TRUE(has_failed);
}

TEST_F(Lifetime, WithoutAnotherProcessTheRunFailsWithOneSentence) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "UndefinedBehaviorSanitizer needs descriptors and processes of its own";
#endif
  // The limit does not bind root: an ordinary user is needed, who can reach the program.
  std::filesystem::copy(wattle_program(), path("wattle"));
  std::filesystem::permissions(folder_.path(), std::filesystem::perms{0755});
  const Outcome outcome = run({.command = {path("wattle"), "run", "true"}, .prepare = [] {
                                 become_ordinary_user();
                                 constexpr rlimit kNone{0, 0};
                                 ::setrlimit(RLIMIT_NPROC, &kNone);
                               }});
  EXPECT_EQ(outcome.code(), kFailed);
  EXPECT_THAT(outcome.err, StartsWith("wattle run: cannot fork: "));
}

TEST_F(Lifetime, WithoutAProcFileSystemTheRunStillEndsAsItsCommand) {
  if (::geteuid() != 0) GTEST_SKIP() << "hiding /proc needs root";
  if (kSanitized) GTEST_SKIP() << "a sanitizer asks /proc what memory its program has";
  constexpr int kNoMount = 99;
  Start start = wattle_run({}, child({"exit", "7"}));
  start.prepare = [] {
    if (!mount_memory("/proc", nullptr)) ::_exit(kNoMount);
  };
  const Outcome outcome = run(start);
  if (outcome.code() == kNoMount) GTEST_SKIP() << "/proc cannot be hidden here";
  EXPECT_EQ(outcome.code(), 7);
  EXPECT_TRUE(has_report(outcome.err));
}

/// The first process of a PID namespace, which the kernel spares where it can.
class ProcessOne : public CommandTest {
 protected:
  void SetUp() override {
    if (run({.command = in_namespace({"true"})}).code() != 0) {
      GTEST_SKIP() << "unshare --pid is not permitted here";
    }
  }
  [[nodiscard]] static Words in_namespace(const Words& command) {
    Words words = {"unshare", "--pid", "--fork", "--mount-proc"};
    if (::geteuid() != 0) words = words + Words{"--user", "--map-root-user"};
    return words + command;
  }
};

TEST_F(ProcessOne, KeepsTheStatus) {
  const Outcome outcome =
      run({.command = in_namespace(wattle_run({}, child({"exit", "7"})).command)});
  EXPECT_EQ(outcome.code(), 7);
  EXPECT_TRUE(has_report(outcome.err));
}

TEST_F(ProcessOne, EndsWith128AndTheSignalOfTheCommand) {
  for (const int signal : {SIGTERM, SIGKILL}) {
    const Words killed = child({"raise", std::to_string(signal)});
    const Outcome outcome = run({.command = in_namespace(wattle_run({}, killed).command)});
    EXPECT_EQ(outcome.code(), 128 + signal);
    EXPECT_TRUE(has_report(outcome.err));
  }
}

TEST_F(ProcessOne, PassesSignalsOnAndAdoptsOrphans) {
  // `kill` by the parent outside, which has no number in the namespace.
  const Words command =
      wattle_run({"--quiet", "--json", path("run.json")},
                 child({"daemon", "[", "burn", "1", "]", "print", "ready", "pause"}))
          .command;
  Process process({.command = in_namespace(command)});
  ASSERT_TRUE(process.prints("ready\n"));
  const auto descendants = live_descendants(System{});
  ASSERT_TRUE(descendants.has_value());
  for (const LiveProcess& descendant : *descendants) {
    if (descendant.name == "wattle") ::kill(descendant.pid, SIGTERM);
  }
  EXPECT_THAT(process.wait().code(), Eq(128 + SIGTERM));
  EXPECT_EQ(parse_json(content_of(path("run.json")))["exit"]["signal"], SIGTERM);
}

}  // namespace
}  // namespace wattle::integration
