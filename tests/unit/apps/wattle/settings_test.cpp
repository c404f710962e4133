#include "cli/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "fakes/temp_folder.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Settings settings(const std::string& content,
                  const std::map<std::string, std::string>& variables = {}) {
  return parse_settings(content, "/config", [&](const char* name) {
    const auto found = variables.find(name);
    return found != variables.end() ? found->second.c_str() : nullptr;
  });
}

TEST(Settings, AreReadFromTheFile) {
  const Settings read =
      settings("# a comment\n\n  save = yes\r\nhistory=/a b/h.db\ntags = branch=main, cpu=big\n");
  EXPECT_TRUE(read.save);
  EXPECT_EQ(read.history, "/a b/h.db");
  EXPECT_EQ(read.tags, (Tags{{"branch", "main"}, {"cpu", "big"}}));
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(read.all[0].value, "yes");
  EXPECT_EQ(read.all[0].source, "/config, line 3");
}

TEST(Settings, AreOverruledByTheEnvironment) {
  const Settings read = settings("save = yes\nhistory = /file\n",
                                 {{"WATTLE_SAVE", "0"}, {"WATTLE_HISTORY", "/variable"}});
  EXPECT_FALSE(read.save);
  EXPECT_EQ(read.history, "/variable");
  EXPECT_EQ(read.all[0].source, "WATTLE_SAVE");
}

TEST(Settings, NameWhatIsWrong) {
  const Settings read = settings("save = maybe\nsave\nsav = yes\nhistory = relative\ntags = x\n",
                                 {{"WATTLE_SAVE", "2"}});
  EXPECT_FALSE(read.save);
  EXPECT_THAT(read.problems,
              ElementsAre(HasSubstr("/config, line 1: save takes yes or no"), HasSubstr("line 2"),
                          HasSubstr("unknown setting sav; did you mean save?"),
                          HasSubstr("history takes an absolute path"), HasSubstr("takes KEY=VALUE"),
                          HasSubstr("WATTLE_SAVE: save takes")));
}

TEST(Settings, MayStartWithTheMarkOfAnEditor) {
  const Settings read = settings("\xEF\xBB\xBFsave = yes\r\n", {});
  EXPECT_TRUE(read.save);
  EXPECT_THAT(read.problems, IsEmpty());
  EXPECT_EQ(with_setting("\xEF\xBB\xBFsave = yes\n", "save", "no"), "save = no\n");
}

TEST(Settings, TakeNoRelativePathInAFolderThatIsGone) {
  const std::filesystem::path before = std::filesystem::current_path();
  const fakes::TempFolder gone;
  std::filesystem::current_path(gone.path());
  std::filesystem::remove(gone.path());
  const Settings read = settings("", {{"WATTLE_HISTORY", "h.db"}});
  std::filesystem::current_path(before);
  EXPECT_THAT(read.problems, ElementsAre(HasSubstr("history takes an absolute path, not 'h.db'")));
}

TEST(Settings, AreEmptyWithoutAFileAndUnknownWhereItCannotBeRead) {
  const fakes::TempFolder folder;
  EXPECT_EQ(settings_content(folder.path() / "none"), "");
  EXPECT_THROW((void)settings_content(folder.path()), Error);
}

TEST(Settings, AreChangedInTheirPlace) {
  EXPECT_EQ(with_setting("# mine\nsave = no\nother\nsave = no\n", "save", "yes"),
            "# mine\nsave = yes\nother\n");
  EXPECT_EQ(with_setting("a = 1", "tags", "k=v"), "a = 1\ntags = k=v\n");
  EXPECT_EQ(with_setting("save = no\n", "save", std::nullopt), "");
  EXPECT_THROW((void)with_setting("", "history", "relative"), InvalidArgument);
  EXPECT_THROW((void)with_setting("", "tags", "a=b\nsave = yes"), InvalidArgument);
}

TEST(Tag, IsAKeyAndAValue) {
  EXPECT_EQ(parse_tag("a=b=c", "--tag"), std::pair(std::string("a"), std::string("b=c")));
  EXPECT_EQ(parse_tag("a=", "--tag").second, "");
  for (const std::string& text :
       {std::string(), std::string("a"), std::string("=b"), "k=" + std::string(300, 'v')}) {
    EXPECT_THROW((void)parse_tag(text, "--tag"), InvalidArgument) << text;
  }
}

}  // namespace
}  // namespace wattle::app
