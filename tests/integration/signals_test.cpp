// Signals sent to wattle are meant for the command.
#include <sys/prctl.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "command.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string signal_number(int signal) { return std::to_string(signal); }

/// The child's action `signals` ends at TERM. Signals that wait are taken in the order of their
/// numbers, of which TERM has the last: what was not printed before it does not come any more.
class ForwardedSignal : public testing::TestWithParam<int> {};

TEST_P(ForwardedSignal, ReachesTheCommandOnce) {
  Process process(wattle_run({}, child({"signals"})));
  ASSERT_TRUE(process.prints("ready\n"));
  process.send(GetParam());
  const std::string name = ::sigabbrev_np(GetParam());
  ASSERT_TRUE(process.prints(name + "\n"));
  process.send(SIGTERM);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.out, "ready\n" + name + "\nTERM\n");
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_TRUE(has_report(outcome.err));
}

TEST_P(ForwardedSignal, ThatKillsTheCommandEndsBoth) {
  Process process(wattle_run({}, child({"print", "ready", "pause"})));
  ASSERT_TRUE(process.prints("ready\n"));
  process.send(GetParam());
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.signal(), GetParam());
  EXPECT_TRUE(has_report(outcome.err));
}

/// What nohup and the shell's & do: the command has the signal ignored, and does not get it either.
TEST_P(ForwardedSignal, StaysIgnoredWhereItWasIgnored) {
  Start start = wattle_run({}, child({"signals"}));
  start.prepare = [] { ::signal(GetParam(), SIG_IGN); };
  Process process(start);
  ASSERT_TRUE(process.prints("ready\n"));
  process.send(GetParam());
  process.send(SIGTERM);
  EXPECT_EQ(process.wait().out, "ready\nTERM\n");
}

INSTANTIATE_TEST_SUITE_P(Signals, ForwardedSignal,
                         testing::Values(SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2),
                         [](const auto& name) { return sigabbrev_np(name.param); });

/// What is sent to wattle from within the command's own tree does not come back.
class OwnSignal : public CommandTest {
 protected:
  /// The command blocks its signals, does `actions`, which send USR1 to wattle and print "sent",
  /// and then takes signals.
  static void expect_no_echo(const Words& actions) {
    Process process(wattle_run({}, child(Words{"block"} + actions + Words{"signals"})));
    ASSERT_TRUE(process.prints("sent\n"));
    ASSERT_TRUE(process.prints("ready\n"));
    process.send(SIGTERM);
    ASSERT_TRUE(process.prints("TERM\n"));
    process.close_input();
    const Outcome outcome = process.wait();
    EXPECT_THAT(outcome.out, Not(HasSubstr("USR1")));
    EXPECT_EQ(outcome.code(), 0);
  }
  const Words send_ = {"send_wrapper", signal_number(SIGUSR1), "print", "sent"};
};

TEST_F(OwnSignal, OfTheCommandIsNotEchoed) { expect_no_echo(send_); }

TEST_F(OwnSignal, OfAChildIsNotEchoed) {
  expect_no_echo(Words{"background", "["} + send_ + Words{"read_all", "]"});
}

TEST_F(OwnSignal, OfAnOrphanThatWattleAdoptedIsNotEchoed) {
  expect_no_echo(Words{"daemon", "["} + send_ + Words{"detach", "read_all", "]"});
}

TEST(Signals, ThatTheCommandHandlesDoNotEndWattle) {
  Process process(wattle_run({}, {"sh", "-c", "trap 'exit 7' TERM; echo ready; read end"}));
  ASSERT_TRUE(process.prints("ready\n"));
  process.send(SIGTERM);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code(), 7);
  EXPECT_TRUE(has_report(outcome.err));
}

TEST(Signals, TerminationAtAnyMomentEndsBothAndLeavesNobody) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans would come to us
  for (int i = 0; i < 60; ++i) {
    Process process(wattle_run({"--quiet"}, child({"pause"})));
    std::this_thread::sleep_for(std::chrono::microseconds(100 * i));
    process.send(SIGTERM);
    EXPECT_EQ(process.wait().signal(), SIGTERM) << "sent after " << i << " tenths of a ms";
    // The launcher may need a moment to see that its parent is gone.
    EXPECT_TRUE(eventually([] { return ::waitpid(-1, nullptr, WNOHANG) < 0; }));
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace wattle::integration
