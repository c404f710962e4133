// Stopping and continuing, and the keys of a terminal.
#include <unistd.h>

#include <csignal>

#include "base/files/file.hpp"
#include "command.hpp"
#include "pty.hpp"
#include "usage/process/process.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;

std::string number(int signal) { return std::to_string(signal); }

char state_of(pid_t pid) {
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const auto process = stat ? parse_process_stat(*stat) : std::nullopt;
  return process ? process->state : '?';
}

/// True if `signal` waits for the process, which has it blocked.
bool is_pending(pid_t pid, int signal) {
  const std::string status = read_file("/proc/" + std::to_string(pid) + "/status").value_or("");
  const std::size_t at = status.find("\nShdPnd:\t");
  if (at == std::string::npos) return false;
  constexpr int kHexadecimal = 16;
  const unsigned long long set = std::stoull(status.substr(at + 9), nullptr, kHexadecimal);
  return ((set >> static_cast<unsigned>(signal - 1)) & 1U) != 0;
}

/// The test is the job-control shell: wattle gets a group of its own in the test's session.
class StoppedCommand : public testing::TestWithParam<int> {};

TEST_P(StoppedCommand, StopsWattleUntilTheJobGoesOn) {
  const std::string stop = number(GetParam());
  Start start =
      wattle_run({}, child({"raise", stop, "print", "again", "raise", stop, "exit", "7"}));
  start.prepare = [] { ::setpgid(0, 0); };
  Process process(start);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(process.stops());
    ::kill(-process.pid(), SIGCONT);
  }
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code(), 7);
  EXPECT_EQ(outcome.out, "again\n");
  EXPECT_TRUE(has_report(outcome.err));
}

INSTANTIATE_TEST_SUITE_P(Signals, StoppedCommand, testing::Values(SIGSTOP, SIGTSTP),
                         [](const auto& name) { return sigabbrev_np(name.param); });

TEST(JobControl, WithoutAShellToContinueItWattleDoesNotStop) {
  Start start = wattle_run({}, child({"block", "pid", "raise", number(SIGSTOP), "exit", "7"}));
  start.prepare = [] { ::setsid(); };
  Process process(start);
  ASSERT_TRUE(process.prints("\n"));
  const pid_t child = process.number_printed();
  ASSERT_TRUE(eventually([&] { return state_of(child) == 'T'; }));
  // Wattle is awake: it passes a signal on.
  process.send(SIGUSR1);
  ASSERT_TRUE(eventually([&] { return is_pending(child, SIGUSR1); }));
  ::kill(child, SIGCONT);
  EXPECT_EQ(process.wait().code(), 7);
}

/// A shell with job control on a terminal, which runs `wattle run` in the foreground, says how
/// that ended, and waits for one more line.
class Terminal : public testing::Test {
 protected:
  void SetUp() override {
    if (!Pty::available()) GTEST_SKIP() << "no terminal to be had: is devpts mounted?";
  }
  [[nodiscard]] Start shell(const Words& command, const std::string& then = "") {
    // A shell without the trap would do as its job did and end.
    std::string line = "trap : INT; '" + wattle_program() + "' run --";
    for (const std::string& word : command) line += " '" + word + "'";
    Start start{.command = {"sh", "-m", "-c", line + "; echo status $?; " + then + "read end"}};
    start.prepare = [this] { pty_.become_terminal(); };
    return start;
  }
  Pty pty_;
};

TEST_F(Terminal, CtrlCReachesTheCommandOnceAndTheReportIsStillPrinted) {
  Process shell_process(shell(child({"wrapper", "signals"})));
  ASSERT_TRUE(pty_.shows("ready\r\n"));
  const pid_t wrapper = std::stoi(pty_.text());
  pty_.type("\x03");
  ASSERT_TRUE(pty_.shows("INT\r\n"));
  ::kill(wrapper, SIGTERM);
  ASSERT_TRUE(pty_.shows("status 0"));
  EXPECT_THAT(pty_.text(), HasSubstr("INT\r\nTERM\r\n"));
  EXPECT_THAT(pty_.text(), HasSubstr("memory        "));
}

TEST_F(Terminal, CtrlCEndsCommandAndWattle) {
  Process shell_process(shell(child({"print", "ready", "pause"})));
  ASSERT_TRUE(pty_.shows("ready\r\n"));
  pty_.type("\x03");
  ASSERT_TRUE(pty_.shows("status 130"));
  EXPECT_THAT(pty_.text(), HasSubstr(": killed by SIGINT"));
}

TEST_F(Terminal, CtrlZAndForegroundStopAndContinueTheRun) {
  Process shell_process(
      shell(child({"print", "ready", "read_line", "exit", "7"}), "fg; echo then $?; "));
  ASSERT_TRUE(pty_.shows("ready\r\n"));
  pty_.type("\x1a");
  ASSERT_TRUE(pty_.shows("status 148"));  // 128 + TSTP, or STOP
  pty_.type("\n");
  ASSERT_TRUE(pty_.shows("then 7"));
  EXPECT_THAT(pty_.text(), HasSubstr("memory        "));
}

TEST_F(Terminal, ThatHangsUpEndsTheCommandOfASessionLeader) {
  // As for `ssh -t host wattle run ...`: the kernel tells the session's leader alone.
  Start start = wattle_run({}, child({"print", "ready", "pause"}));
  start.prepare = [this] { pty_.become_terminal(); };
  Process process(start);
  ASSERT_TRUE(pty_.shows("ready\r\n"));
  pty_.hang_up();
  EXPECT_EQ(process.wait().signal(), SIGHUP);
}

}  // namespace
}  // namespace wattle::integration
