// The command line: what is wrong ends with one sentence and the number of the kind of mistake.
#include <algorithm>
#include <csignal>

#include "command.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr int kUsageError = 64;

/// One sentence that names the command, and one that tells where to read on; nothing on stdout.
void expect_refused(const Outcome& outcome, int code, const std::string& context) {
  EXPECT_EQ(outcome.code(), code);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, StartsWith(context + ": "));
  EXPECT_THAT(outcome.err, HasSubstr("\nTry: " + context + " --help\n"));
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 2) << outcome.err;
}

TEST(Options, WithoutACommandAreRefused) {
  expect_refused(run(wattle({"run"})), kFailed, "wattle run");
  expect_refused(run(wattle({"run", "--"})), kFailed, "wattle run");
  expect_refused(run(wattle({"run", "--quiet"})), kFailed, "wattle run");
}

TEST(Options, UnknownOnesAreRefused) {
  const Outcome outcome = run(wattle({"run", "--no-such-option", "--", "true"}));
  expect_refused(outcome, kFailed, "wattle run");
  EXPECT_THAT(outcome.err, HasSubstr("--no-such-option"));
  expect_refused(run(wattle({"run", "-Z", "true"})), kFailed, "wattle run");
}

TEST(Options, WithoutTheirValueAreRefused) {
  expect_refused(run(wattle({"run", "--json"})), kFailed, "wattle run");
  expect_refused(run(wattle({"run", "-o", "--", "true"})), kFailed, "wattle run");
}

TEST(Options, WithAnEmptyPathAreRefused) {
  for (const char* option : {"--json", "-o", "--sysfs", "--procfs"}) {
    SCOPED_TRACE(option);
    expect_refused(run(wattle({"run", option, "", "--", "true"})), kFailed, "wattle run");
  }
}

class BadInterval : public testing::TestWithParam<const char*> {};

TEST_P(BadInterval, IsRefusedInOneSentence) {
  const Outcome outcome = run(wattle({"run", "--interval", GetParam(), "--", "true"}));
  expect_refused(outcome, kFailed, "wattle run");
  EXPECT_THAT(outcome.err, HasSubstr("--interval"));
}

TEST_P(BadInterval, IsRefusedAfterAnEqualsSignToo) {
  const std::string option = std::string("--interval=") + GetParam();
  expect_refused(run(wattle({"run", option, "--", "true"})), kFailed, "wattle run");
}

INSTANTIATE_TEST_SUITE_P(Values, BadInterval,
                         testing::Values("0", "-1", "soon", "nan", "inf", "1e9", "0.0001", "",
                                         "0,1", "1 ", "0x1", "3601", "\x1b[31m"));

TEST(Options, TakeAnIntervalFromAMillisecondToAnHour) {
  EXPECT_EQ(run(wattle({"run", "--interval", "0.001", "--", "true"})).code(), 0);
  EXPECT_EQ(run(wattle({"run", "--interval", "3600", "--", "true"})).code(), 0);
  EXPECT_EQ(run(wattle({"run", "--interval=1e-1", "--", "true"})).code(), 0);
}

TEST(Options, BadValuesCannotSteerTheTerminal) {
  const Outcome outcome = run(wattle({"run", "--interval", "\x1b[31m", "--", "true"}));
  EXPECT_THAT(outcome.err, Not(HasSubstr("\x1b")));
}

TEST(Options, UnknownSubCommandIsAUsageError) {
  const Outcome outcome = run(wattle({"measure"}));
  expect_refused(outcome, kUsageError, "wattle");
  EXPECT_THAT(outcome.err, HasSubstr("measure"));
}

TEST(Options, NoSubCommandPrintsTheHelp) {
  const Outcome outcome = run(wattle({}));
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.out, HasSubstr("usage: wattle COMMAND"));
}

TEST(Options, UnknownOnesOfOtherSubCommandsAreUsageErrors) {
  expect_refused(run(wattle({"sensors", "--no-such-option"})), kUsageError, "wattle sensors");
  expect_refused(run(wattle({"doctor", "surplus"})), kUsageError, "wattle doctor");
}

TEST(Options, HelpGoesToStdout) {
  for (const Words& words : {Words{"--help"}, Words{"run", "--help"}, Words{"run", "-h"},
                             Words{"sensors", "--help"}, Words{"doctor", "--help"}}) {
    const Outcome outcome = run(wattle(words));
    EXPECT_EQ(outcome.code(), 0);
    EXPECT_THAT(outcome.out, HasSubstr("usage: wattle"));
    EXPECT_THAT(outcome.err, IsEmpty());
  }
}

TEST(Options, VersionGoesToStdout) {
  const Outcome outcome = run(wattle({"--version"}));
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.out, testing::MatchesRegex("wattle [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST(Options, AfterTheCommandBelongToTheCommand) {
  const Outcome outcome = run(wattle({"run", "--quiet", "echo", "--json", "-o", "--version"}));
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_EQ(outcome.out, "--json -o --version\n");
}

TEST(Options, TheMarkMayBeLeftOut) {
  EXPECT_EQ(run(wattle({"run", "sh", "-c", "exit 7"})).code(), 7);
}

TEST(Options, OnlyTheFirstMarkIsWattles) {
  EXPECT_EQ(run(wattle({"run", "--quiet", "--", "echo", "a", "--", "b"})).out, "a -- b\n");
  EXPECT_EQ(run(wattle({"run", "--quiet", "echo", "a", "--", "b"})).out, "a -- b\n");
}

TEST(Options, AfterTheMarkAreNoOptions) {
  const Outcome outcome = run(wattle({"run", "--", "--help"}));
  EXPECT_EQ(outcome.code(), kNotFound);
}

}  // namespace
}  // namespace wattle::integration
