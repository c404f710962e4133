// stdin and stdout are the command's; the report stays out of them.
#include <cstdlib>
#include <random>

#include "command.hpp"
#include "pty.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class Streams : public CommandTest {};

/// Every byte value, more than any pipe holds.
std::string binary_data() {
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same data in every run
  std::string data(3'000'000, '\0');
  for (char& c : data) c = static_cast<char>(random() & 0xFFU);
  return data;
}

TEST_F(Streams, ReportGoesToStderrAlone) {
  const Outcome outcome = run(wattle_run({}, child({"print", "from the command"})));
  EXPECT_EQ(outcome.out, "from the command\n");
  EXPECT_TRUE(has_report(outcome.err));
}

TEST_F(Streams, CommandsStderrComesBeforeTheReport) {
  const Outcome outcome = run(wattle_run({}, {"sh", "-c", "echo to stderr >&2"}));
  EXPECT_THAT(outcome.err, StartsWith("to stderr\n"));
  EXPECT_TRUE(has_report(outcome.err));
}

TEST_F(Streams, StdinAndStdoutPassEveryByteUnchanged) {
  const std::string data = binary_data();
  const Outcome outcome = run(wattle_run({}, child({"copy"})), data);
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_TRUE(outcome.out == data) << outcome.out.size() << " of " << data.size() << " bytes";
}

TEST_F(Streams, APipelineIsTheSameWithAndWithout) {
  const std::string data = binary_data();
  const std::string command = "'" + child_program() + "' copy";
  const Start pipeline{.command = {"sh", "-c",
                                   command + " | '" + wattle_program() + "' run -q -- " + command +
                                       " | " + command}};
  EXPECT_TRUE(run(pipeline, data).out == data);
}

TEST_F(Streams, QuietLeavesNothing) {
  const Outcome outcome = run(wattle_run({"--quiet"}, {"true"}));
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST_F(Streams, JsonGoesToStdoutAfterTheCommandsOutput) {
  const Outcome outcome = run(wattle_run({"--json", "-"}, child({"print", "first"})));
  ASSERT_THAT(outcome.out, StartsWith("first\n"));
  const std::string json = outcome.out.substr(std::string("first\n").size());
  EXPECT_EQ(parse_json(json)["schema"], "wattle.run/2");
  EXPECT_TRUE(has_report(outcome.err));
}

TEST_F(Streams, JsonIsOneLine) {
  const Outcome outcome = run(wattle_run({"--quiet", "--json", "-"}, {"true"}));
  // The first ends what the command may have printed.
  EXPECT_EQ(outcome.out.find('\n'), 0U);
  EXPECT_EQ(outcome.out.find('\n', 1), outcome.out.size() - 1);
}

TEST_F(Streams, WordsThatAreNoTextDoNotBreakReportOrJson) {
  const Outcome outcome = run(wattle_run({"--json", "-"}, {"true", "\xff\xfe", "\x1b[31m\n"}));
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_EQ(parse_json(outcome.out)["command"][1], "\uFFFD\uFFFD");
  EXPECT_THAT(outcome.err, HasSubstr("\\xff\\xfe"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("\x1b")));
}

TEST_F(Streams, WithoutATerminalThereAreNoEscapeCodes) {
  EXPECT_THAT(run(wattle_run({}, {"true"})).err, Not(HasSubstr("\x1b")));
}

class OnATerminal : public Streams {
 protected:
  void SetUp() override {
    Streams::SetUp();
    if (!Pty::available()) GTEST_SKIP() << "no terminal to be had: is devpts mounted?";
  }
};

/// What `wattle run -- true` writes to a terminal.
std::string shown_on_terminal(Start start) {
  Pty pty;
  start.prepare = [&] { pty.become_terminal(); };
  Process process(start);
  EXPECT_TRUE(pty.shows("memory        "));
  EXPECT_EQ(process.wait().code(), 0);
  return pty.text();
}

TEST_F(OnATerminal, HeadlineIsBold) {
  EXPECT_THAT(shown_on_terminal(wattle_run({}, {"true"})), StartsWith("\x1b[1m"));
}

TEST_F(OnATerminal, NoColorIsRespected) {
  Start start = wattle_run({}, {"true"});
  start.environment["NO_COLOR"] = "1";
  EXPECT_THAT(shown_on_terminal(start), Not(HasSubstr("\x1b")));
}

TEST_F(OnATerminal, EmptyNoColorMeansNothing) {
  Start start = wattle_run({}, {"true"});
  start.environment["NO_COLOR"] = "";
  EXPECT_THAT(shown_on_terminal(start), StartsWith("\x1b[1m"));
}

}  // namespace
}  // namespace wattle::integration
