#include "control/command_overrides.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fakes/temp_folder.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string why_refused(const std::string& text) {
  try {
    (void)CommandOverrides::parse(text);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  ADD_FAILURE() << "taken: " << text;
  return {};
}

TEST(CommandOverrides, TakeAllOperationsWithAllKeys) {
  const CommandOverrides all = CommandOverrides::parse(R"(
[set_persistence_mode]
commands = ["control --gpu={gpu_id} --enabled={enabled}"]
error_pattern = "(?i)error"
timeout_s = 1
[set_power_limit]
commands = ["one {gpu_id}", "two {power_limit_mw} {power_limit_w}"]
[set_gpu_locked_clocks]
commands = ["control {gpu_id} {min_clock_mhz} {max_clock_mhz}"]
[reset_gpu_locked_clocks]
commands = ["control {gpu_id}"]
[set_mem_locked_clocks]
commands = ["control {gpu_id} {min_clock_mhz} {max_clock_mhz}"]
[reset_mem_locked_clocks]
commands = ["control {gpu_id}"]
[reset_locked_clocks]
commands = ["control {gpu_id}"]
timeout_s = 7
)");
  EXPECT_EQ(all.names(),
            "set_persistence_mode, set_power_limit, set_gpu_locked_clocks, "
            "reset_gpu_locked_clocks, set_mem_locked_clocks, reset_mem_locked_clocks, "
            "reset_locked_clocks");
  const CommandOverride& mode = *all.find(ControlOperation::set_persistence_mode);
  EXPECT_THAT(mode.commands,
              ElementsAre(ElementsAre("control", "--gpu={gpu_id}", "--enabled={enabled}")));
  EXPECT_EQ(mode.error_pattern->text(), "(?i)error");
  EXPECT_EQ(mode.timeout, std::chrono::seconds(1));
  const CommandOverride& limit = *all.find(ControlOperation::set_power_limit);
  EXPECT_EQ(limit.commands.size(), 2U);
  EXPECT_FALSE(limit.error_pattern);
  EXPECT_EQ(limit.timeout, std::chrono::seconds(60));
}

TEST(CommandOverrides, LeaveWhatIsNotNamedToTheDriver) {
  const CommandOverrides one =
      CommandOverrides::parse("[reset_locked_clocks]\ncommands = [\"control\"]\n");
  EXPECT_EQ(one.names(), "reset_locked_clocks");
  EXPECT_EQ(one.find(ControlOperation::set_power_limit), nullptr);
}

TEST(CommandOverrides, RefuseWhatMeansNothingAndNameThePlace) {
  EXPECT_THAT(why_refused("[set_fan_speed]\ncommands = [\"control\"]\n"),
              AllOf(HasSubstr("unknown operation 'set_fan_speed'"), HasSubstr("set_power_limit")));
  EXPECT_THAT(why_refused("[set_power_limit]\ncommands = [\"x\"]\nworking_dir = \"/tmp\"\n"),
              AllOf(HasSubstr("[set_power_limit]"), HasSubstr("unknown key 'working_dir'")));
  EXPECT_THAT(why_refused("[set_power_limit]\ncommands = []\n"), HasSubstr("commands are missing"));
  EXPECT_THAT(why_refused("[set_power_limit]\n"), HasSubstr("commands are missing"));
  EXPECT_THAT(why_refused("[set_power_limit]\ncommands = \"x\"\n"),
              HasSubstr("commands must be a list of strings"));
  EXPECT_THAT(why_refused("[set_power_limit]\ncommands = [\"x\"]\nerror_pattern = \"[\"\n"),
              HasSubstr("'[' is not a pattern"));
  EXPECT_THAT(why_refused("[set_power_limit]\ncommands = [\"x\"]\ntimeout_s = 0\n"),
              HasSubstr("timeout_s must be 1 to 3600"));
  EXPECT_THAT(why_refused("[reset_locked_clocks]\ncommands = [\"control '\"]\n"),
              HasSubstr("cannot be cut into words"));
  EXPECT_THAT(why_refused("[reset_locked_clocks]\ncommands = [\"\"]\n"),
              HasSubstr("a command is empty"));
}

TEST(CommandOverrides, RefuseWhatIsNoTomlWithItsLine) {
  for (const char* const line : {"commands", "commands = ", "commands = \"b", "commands = [\"b\"",
                                 "timeout_s = 1 2", "[reset_locked_clocks]"}) {
    EXPECT_THAT(why_refused("[reset_locked_clocks]\n" + std::string(line) + "\n"),
                HasSubstr("line 2: "))
        << line;
  }
  EXPECT_THAT(why_refused("[reset_locked_clocks]\ntimeout_s = 1\ntimeout_s = 2\n"),
              HasSubstr("line 3: "));
}

TEST(CommandOverrides, TakeThePatternAsItIsWrittenInSingleQuotes) {
  const CommandOverrides one = CommandOverrides::parse(
      "# first\r\n[reset_locked_clocks] # second\ncommands = [ 'p', # third\n \"q\",\n]\n"
      "error_pattern = 'a\\d#'\n");
  const CommandOverride& reset = *one.find(ControlOperation::reset_locked_clocks);
  EXPECT_THAT(reset.commands, ElementsAre(ElementsAre("p"), ElementsAre("q")));
  EXPECT_EQ(reset.error_pattern->text(), "a\\d#");
}

TEST(CommandOverrides, RefuseValuesOfOtherTypes) {
  const std::string begin = "[reset_locked_clocks]\ncommands = [\"x\"]\n";
  for (const char* const value : {"1.5", "\"1\"", "true", "1979-05-27", "[1]", "{ y = 1 }"}) {
    EXPECT_THAT(why_refused(begin + "timeout_s = " + value),
                HasSubstr("[reset_locked_clocks]: timeout_s must be a whole number"));
  }
  EXPECT_THAT(why_refused(begin + "timeout_s = -1"), HasSubstr("timeout_s must be 1 to 3600"));
  EXPECT_THAT(why_refused(begin + "error_pattern = 1"), HasSubstr("must be a string"));
  EXPECT_THAT(why_refused("[reset_locked_clocks]\ncommands = [1]\n"),
              HasSubstr("commands must be a list of strings"));
  EXPECT_THAT(why_refused("reset_locked_clocks = 1\n"), HasSubstr("it must be a table"));
  EXPECT_THAT(why_refused("[[reset_locked_clocks]]\n"), HasSubstr("it must be a table"));
  EXPECT_THAT(why_refused("x = 1\n"), HasSubstr("unknown operation 'x'"));
}

TEST(CommandOverrides, RefuseAPlaceholderThatTheOperationDoesNotHave) {
  EXPECT_THAT(why_refused("[set_power_limit]\ncommands = [\"x --value={max_clock_mhz}\"]\n"),
              AllOf(HasSubstr("set_power_limit has no value '{max_clock_mhz}'"),
                    HasSubstr("{gpu_id} {power_limit_mw} {power_limit_w}")));
  for (const std::string word : {"value}", "{gpu_id", "{{gpu_id}"}) {
    EXPECT_THAT(why_refused("[reset_locked_clocks]\ncommands = [\"control " + word + "\"]\n"),
                HasSubstr("unmatched brace"));
  }
}

TEST(CommandOverrides, FillInTheValuesOfACall) {
  const ControlCall limit{ControlOperation::set_power_limit, {253'999}};
  EXPECT_THAT(fill_in({"a", "--gpu={gpu_id}:{power_limit_mw}:{power_limit_w}"}, limit, 3),
              ElementsAre("a", "--gpu=3:253999:253"));
  const ControlCall clocks{ControlOperation::set_mem_locked_clocks, {500, 1700}};
  EXPECT_THAT(fill_in({"{gpu_id}:{min_clock_mhz}:{max_clock_mhz}"}, clocks, 4),
              ElementsAre("4:500:1700"));
  const ControlCall mode{ControlOperation::set_persistence_mode, {1}};
  EXPECT_THAT(fill_in({"{gpu_id}", "{enabled}"}, mode, 5), ElementsAre("5", "1"));
}

TEST(CommandOverrides, AreFoundForEachSetting) {
  const auto operation = [](const std::vector<DeviceSetting>& settings) {
    return call_of(settings).operation;
  };
  EXPECT_EQ(call_of(std::vector<DeviceSetting>{LockedClocks{ClockKind::memory, 405, 810}}),
            (ControlCall{ControlOperation::set_mem_locked_clocks, {405, 810}}));
  EXPECT_EQ(operation({PersistenceMode{true}}), ControlOperation::set_persistence_mode);
  EXPECT_EQ(operation({FreeClocks{ClockKind::gpu}}), ControlOperation::reset_gpu_locked_clocks);
  EXPECT_EQ(operation({FreeClocks{ClockKind::memory}}), ControlOperation::reset_mem_locked_clocks);
  EXPECT_EQ(operation({FreeClocks{ClockKind::gpu}, FreeClocks{ClockKind::memory}}),
            ControlOperation::reset_locked_clocks);
}

class OverridesFile : public testing::Test {
 protected:
  [[nodiscard]] std::string file(mode_t mode) {
    folder_.write("overrides.toml", "[reset_locked_clocks]\ncommands = [\"control\"]\n");
    const std::string path = (folder_.path() / "overrides.toml").string();
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  static std::string why_not_loaded(const std::string& path) {
    try {
      (void)CommandOverrides::load(path);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    ADD_FAILURE() << "loaded";
    return {};
  }
  fakes::TempFolder folder_;
};

TEST_F(OverridesFile, ThatOthersCanWriteIsRefused) {
  EXPECT_THAT(why_not_loaded(file(0666)), HasSubstr("every user can change it"));
}

TEST_F(OverridesFile, ThatItsGroupCanWriteIsToBeWarnedAbout) {
  EXPECT_TRUE(CommandOverrides::load(file(0664)).is_writable_by_group());
  EXPECT_FALSE(CommandOverrides::load(file(0644)).is_writable_by_group());
}

TEST_F(OverridesFile, OfAnotherUserIsRefused) {
  const std::string path = file(0644);
  if (::chown(path.c_str(), 54321, 0) != 0) GTEST_SKIP() << "only root gives files away";
  EXPECT_THAT(why_not_loaded(path), HasSubstr("user 54321 owns it"));
}

TEST_F(OverridesFile, ThatIsNoneIsRefused) {
  EXPECT_THAT(why_not_loaded((folder_.path() / "nothing").string()),
              HasSubstr("No such file or directory"));
  EXPECT_THAT(why_not_loaded(folder_.path().string()), HasSubstr("not a regular file"));
}

TEST_F(OverridesFile, IsNamedBesideWhatIsWrongInIt) {
  folder_.write("overrides.toml", "[reset_locked_clocks]\ncommands\n");
  EXPECT_THAT(why_not_loaded((folder_.path() / "overrides.toml").string()),
              AllOf(HasSubstr("overrides.toml"), HasSubstr("line 2: "), HasSubstr("expected '='")));
}

}  // namespace
}  // namespace wattle::daemon
