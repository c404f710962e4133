#include "control/command_runner.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <sstream>
#include <thread>

#include "base/files/file.hpp"
#include "fakes/temp_folder.hpp"

namespace wattle::daemon {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Optional;

/// Commands are shell scripts; each test starts the process that runs them.
class RunsCommands : public testing::Test {
 protected:
  [[nodiscard]] static std::string quoted(const std::string& script) {
    return "commands = [\"/bin/sh -c '" + script + "'\"]\n";
  }
  [[nodiscard]] static CommandRunner runner(const std::string& table) {
    return CommandRunner(CommandOverrides::parse("[set_power_limit]\n" + table));
  }
  [[nodiscard]] static std::optional<std::string> run(const CommandRunner& runner,
                                                      std::uint32_t gpu = 3) {
    return runner.run({ControlOperation::set_power_limit, {150'999}}, gpu);
  }
  /// True once the process is gone or a zombie.
  [[nodiscard]] static bool ends(const std::string& pid) {
    for (int look = 0; look < 60'000; ++look) {
      const auto text = read_file("/proc/" + pid + "/stat");
      if (!text || text->substr(text->rfind(')') + 2, 1) == "Z") return true;
      ::usleep(1000);
    }
    return false;
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return (folder_.path() / name).string();
  }

  fakes::TempFolder folder_;
};

TEST_F(RunsCommands, OneAfterTheOtherWithTheirValues) {
  const CommandRunner commands =
      runner("commands = [\"/bin/sh -c 'echo {gpu_id} {power_limit_mw} >" + file("a") +
             "'\", \"/bin/sh -c 'cat " + file("a") + " >" + file("b") +
             "; echo {power_limit_w} >>" + file("b") + "'\"]\n");
  EXPECT_EQ(run(commands), std::nullopt);
  EXPECT_THAT(read_file(file("b")), Optional(std::string("3 150999\n150\n")));
  EXPECT_TRUE(commands.has(ControlOperation::set_power_limit));
  EXPECT_FALSE(commands.has(ControlOperation::reset_locked_clocks));
}

TEST_F(RunsCommands, UpToTheFirstThatFails) {
  const CommandRunner commands =
      runner("commands = [\"false\", \"touch " + file("second") + "\"]\n");
  EXPECT_THAT(run(commands), Optional(HasSubstr("command 'false' exited with code 1")));
  EXPECT_FALSE(read_file(file("second")));
}

TEST_F(RunsCommands, AndShowsWhatAFailedOnePrinted) {
  const CommandRunner commands = runner(quoted("echo out; echo err >&2; exit 7"));
  EXPECT_THAT(run(commands), Optional(AllOf(HasSubstr("exited with code 7"),
                                            HasSubstr("stdout: out"), HasSubstr("stderr: err"))));
}

TEST_F(RunsCommands, ThatAreNotThereAreAFailure) {
  const CommandRunner commands = runner("commands = [\"/no/such/program\"]\n");
  EXPECT_THAT(run(commands), Optional(HasSubstr("cannot be started: No such file or directory")));
}

TEST_F(RunsCommands, WhoseOutputMatchesThePatternHaveFailed) {
  const CommandRunner commands =
      runner(quoted("echo some ERROR >&2") + "error_pattern = \"(?i)error\"\n");
  EXPECT_THAT(run(commands),
              Optional(AllOf(HasSubstr("matched error_pattern"), HasSubstr("stderr: some ERROR"))));
  EXPECT_EQ(run(runner(quoted("echo fine") + "error_pattern = \"(?i)error\"\n")), std::nullopt);
}

TEST_F(RunsCommands, ThatTakeTooLongAreKilledWithWhatTheyHaveStarted) {
  const CommandRunner commands =
      runner(quoted("sleep 1000 & echo $! >" + file("pid") + "; wait") + "timeout_s = 1\n");
  EXPECT_THAT(run(commands), Optional(HasSubstr("timed out after 1s")));
  const pid_t sleeper = std::stoi(read_file(file("pid")).value());
  EXPECT_TRUE(ends(std::to_string(sleeper)));
}

TEST_F(RunsCommands, KilledByASignalHaveFailed) {
  EXPECT_THAT(run(runner(quoted("kill -9 $$"))), Optional(HasSubstr("was killed by signal 9")));
}

TEST_F(RunsCommands, ThatPrintWithoutEndDoNotStop) {
  const CommandRunner commands = runner(quoted("yes | head -c 3000000; exit 1"));
  const auto failure = run(commands);
  ASSERT_TRUE(failure);
  EXPECT_LT(failure->size(), 4096U);
}

TEST_F(RunsCommands, OfSeveralGpusBesideEachOther) {
  // Each waits for the other: one after the other they would never end.
  const CommandRunner commands =
      runner(quoted("touch " + folder_.path().string() + "/{gpu_id}; while ! test -e " + file("0") +
                    " || ! test -e " + file("1") + "; do sleep 0.01; done") +
             "timeout_s = 60\n");
  std::optional<std::string> other = "not run";
  std::thread thread([&] { other = run(commands, 0); });
  EXPECT_EQ(run(commands, 1), std::nullopt);
  thread.join();
  EXPECT_EQ(other, std::nullopt);
}

TEST_F(RunsCommands, WithNothingOfTheDaemonsOpen) {
  const CommandRunner commands = runner(quoted("ls /proc/self/fd >" + file("open")));
  EXPECT_EQ(run(commands), std::nullopt);
  // 3 is the folder that `ls` reads.
  EXPECT_THAT(read_file(file("open")), Optional(std::string("0\n1\n2\n3\n")));
}

TEST_F(RunsCommands, WithTheSignalsOfAnOrdinaryProgram) {
  const CommandRunner commands =
      runner(quoted("grep -E \\\"SigBlk|SigIgn\\\" /proc/self/status >" + file("signals")));
  EXPECT_EQ(run(commands), std::nullopt);
  std::istringstream lines(read_file(file("signals")).value());
  std::string name;
  std::string mask;
  for (const char* const expected : {"SigBlk:", "SigIgn:"}) {
    ASSERT_TRUE(lines >> name >> mask);
    EXPECT_EQ(name, expected);
    // The C library keeps two of its own ignored, 32 and 33.
    EXPECT_EQ(std::stoull(mask, nullptr, 16) & 0x7fff'ffffU, 0U) << mask;
  }
}

TEST_F(RunsCommands, AndEndsWithItsOwner) {
  // The shell that it starts has the process that runs commands as its grandparent.
  std::string parent;
  {
    const CommandRunner commands =
        runner(quoted("cut -d\\\" \\\" -f4 /proc/$PPID/stat >" + file("parent")));
    EXPECT_EQ(run(commands), std::nullopt);
    parent = read_line(file("parent")).value();
    EXPECT_NE(std::stoi(parent), ::getpid());
  }
  EXPECT_TRUE(ends(parent));
}

}  // namespace
}  // namespace wattle::daemon
