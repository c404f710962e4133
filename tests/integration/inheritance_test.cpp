// The command finds itself as if wattle were not there: descriptors, signals, limits, terminal.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "command.hpp"

namespace wattle::integration {
namespace {

using testing::Eq;
using testing::HasSubstr;
using testing::Not;

class Inheritance : public CommandTest {
 protected:
  /// What the command writes into the file FILE that its actions name, alone and under wattle.
  [[nodiscard]] std::string written(const Start& surroundings, Words command) {
    const std::string file = path("written").string();
    std::filesystem::remove(file);
    for (std::string& word : command) {
      if (word == "FILE") word = file;
    }
    Start start = surroundings;
    start.command = command;
    EXPECT_EQ(run(start).code(), 0);
    return content_of(file);
  }
  /// Expects both to be the same; returns it.
  std::string expect_same(const Start& surroundings, const Words& actions,
                          const Words& options = {}) {
    const std::string alone = written(surroundings, child(actions));
    EXPECT_THAT(written(surroundings, wattle_run(options, child(actions)).command), Eq(alone));
    return alone;
  }
};

TEST_F(Inheritance, DescriptorsAreTheSame) {
  const Start start{.prepare = [] { ::dup2(STDERR_FILENO, 77); }};
  const Words options = {"-o", path("report"), "--json", path("run.json")};
  EXPECT_THAT(expect_same(start, {"fds", "FILE"}, options), HasSubstr(" 77 "));
}

/// Each of 0 to 2 closed, and all of them.
class ClosedDescriptors : public Inheritance,
                          public testing::WithParamInterface<std::vector<int>> {};

TEST_P(ClosedDescriptors, AreClosedForTheCommandToo) {
  const Start start{.prepare = [] {
    for (const int fd : GetParam()) ::close(fd);
  }};
  const std::string open = expect_same(start, {"fds", "FILE"});
  for (const int fd : GetParam()) {
    EXPECT_THAT(open, Not(HasSubstr(" " + std::to_string(fd) + " ")));
  }
}

TEST_P(ClosedDescriptors, AreNotTakenByAnOutputFile) {
  Start start = wattle_run({"-o", path("report"), "--json", path("run.json")},
                           {"sh", "-c", "echo noise; echo noise >&2; exit 7"});
  start.prepare = [] {
    for (const int fd : GetParam()) ::close(fd);
  };
  EXPECT_EQ(run(start).code(), 7);
  EXPECT_THAT(content_of(path("report")), Not(HasSubstr("\nnoise")));
  EXPECT_EQ(parse_json(content_of(path("run.json")))["exit"]["code"], 7);
}

TEST_P(ClosedDescriptors, DoNotKeepWattleFromItsWork) {
  Start start = wattle_run({}, child({"exit", "7"}));
  start.prepare = [] {
    for (const int fd : GetParam()) ::close(fd);
  };
  EXPECT_EQ(run(start).code(), 7);
}

INSTANTIATE_TEST_SUITE_P(Standard, ClosedDescriptors,
                         testing::Values(std::vector{0}, std::vector{1}, std::vector{2},
                                         std::vector{0, 1}, std::vector{1, 2},
                                         std::vector{0, 1, 2}),
                         [](const auto& fds) {
                           std::string name = "fd";
                           for (const int fd : fds.param) name += std::to_string(fd);
                           return name;
                         });

TEST_F(Inheritance, JsonOnAClosedStdoutIsRefusedBeforeTheCommandStarts) {
  Start start = wattle_run({"--json", "-"}, {"touch", path("trace")});
  start.prepare = [] { ::close(STDOUT_FILENO); };
  const Outcome outcome = run(start);
  EXPECT_EQ(outcome.code(), kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("stdout"));
  EXPECT_FALSE(std::filesystem::exists(path("trace")));
}

TEST_F(Inheritance, EverythingElseIsTheSame) {
  const std::string state = expect_same({}, {"state", "FILE"});
  EXPECT_THAT(state, HasSubstr("SigBlk:\t0000000000000000\n"));
  EXPECT_THAT(state, HasSubstr("subreaper: 0\n"));
}

TEST_F(Inheritance, UnusualSettingsAreTheSame) {
  const auto set_unusual_things = [] {
    ::umask(0071);
    ::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + 3);
    constexpr rlimit kFiles{333, 444};
    ::setrlimit(RLIMIT_NOFILE, &kFiles);
    for (const int signal : {SIGHUP, SIGCHLD, SIGPIPE, SIGINT, SIGXFSZ}) ::signal(signal, SIG_IGN);
    sigset_t blocked;
    ::sigemptyset(&blocked);
    for (const int signal : {SIGUSR1, SIGTERM, SIGCHLD}) ::sigaddset(&blocked, signal);
    ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
  };
  const std::string state = expect_same(
      {.environment = {{"A", "b"}}, .folder = folder_.path(), .prepare = set_unusual_things},
      {"state", "FILE"});
  const int nice = std::min(::getpriority(PRIO_PROCESS, 0) + 3, 19);
  EXPECT_THAT(state, HasSubstr("nice: " + std::to_string(nice) + "\n"));
  EXPECT_THAT(state, HasSubstr("Umask:\t0071\n"));
  EXPECT_THAT(state, HasSubstr("variable: A=b\n"));
  EXPECT_THAT(state, HasSubstr("333 444\n"));
  EXPECT_THAT(state, HasSubstr("SigBlk:\t0000000000014200\n"));  // USR1, TERM, CHLD
  EXPECT_THAT(state, HasSubstr("SigIgn:\t0000000001011003\n"));  // HUP, INT, PIPE, CHLD, XFSZ
}

TEST_F(Inheritance, AnIgnoredSigchldDoesNotCostTheStatus) {
  Start start = wattle_run({}, child({"exit", "7"}));
  start.prepare = [] { ::signal(SIGCHLD, SIG_IGN); };
  EXPECT_EQ(run(start).code(), 7);
}

}  // namespace
}  // namespace wattle::integration
