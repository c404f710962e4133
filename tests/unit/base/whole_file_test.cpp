#include "base/files/whole_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/files/file.hpp"
#include "fakes/file_size_limit.hpp"
#include "fakes/temp_folder.hpp"
#include "fakes/unprivileged.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

namespace fs = std::filesystem;

class WholeFileTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const char* name) const {
    return (folder_.path() / name).string();
  }
  [[nodiscard]] std::string content(const char* name) const {
    return read_file(path(name)).value_or("(not there)");
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }
  [[nodiscard]] fs::perms mode_of(const char* name) const {
    return fs::status(path(name)).permissions();
  }
  void replace(const char* name, std::string_view text) const {
    WholeFile(path(name), WholeFile::Mode::replace).write(text);
  }
  void extend(const char* name, std::string_view text) const {
    WholeFile(path(name), WholeFile::Mode::extend).write(text);
  }

  fakes::TempFolder folder_;
};

TEST_F(WholeFileTest, IsNotThereBeforeItsContentIs) {
  WholeFile file(path("new"), WholeFile::Mode::replace);
  EXPECT_EQ(files(), 0U) << "a process that is killed now leaves nothing";
  file.write("all of it\n");
  EXPECT_EQ(content("new"), "all of it\n");
  EXPECT_EQ(files(), 1U);
}

TEST_F(WholeFileTest, KeepsTheOldContentUntilThereIsNew) {
  folder_.write("file", "old and long\n");
  WholeFile file(path("file"), WholeFile::Mode::replace);
  EXPECT_EQ(content("file"), "old and long\n");
  file.write("new\n");
  EXPECT_EQ(content("file"), "new\n");
}

TEST_F(WholeFileTest, LeavesAReaderTheFileThatItHasOpened) {
  folder_.write("file", "old\n");
  std::ifstream reader(path("file"));
  replace("file", "new\n");
  std::string line;
  std::getline(reader, line);
  EXPECT_EQ(line, "old");
}

TEST_F(WholeFileTest, KeepsTheOldContentWhereThereIsNoRoomForNew) {
  folder_.write("file", "old\n");
  WholeFile file(path("file"), WholeFile::Mode::replace);
  const fakes::FileSizeLimit limit(2);
  EXPECT_THROW(file.write("new and longer\n"), WriteError);
  EXPECT_EQ(content("file"), "old\n");
  EXPECT_EQ(files(), 1U);
}

TEST_F(WholeFileTest, OfTwoWritersTheLastOneWins) {
  WholeFile one(path("file"), WholeFile::Mode::replace);
  WholeFile other(path("file"), WholeFile::Mode::replace);
  one.write("the longer text\n");
  other.write("short\n");
  EXPECT_EQ(content("file"), "short\n");
}

TEST_F(WholeFileTest, RefusesAFolderThatIsNotThere) {
  try {
    const WholeFile file(path("no/file"), WholeFile::Mode::replace);
    FAIL() << "not refused";
  } catch (const WriteError& error) {
    EXPECT_EQ(error.error_number(), ENOENT);
  }
}

TEST_F(WholeFileTest, RefusesAFolderInItsPlace) {
  EXPECT_THROW(WholeFile(folder_.path().string(), WholeFile::Mode::replace), WriteError);
}

TEST_F(WholeFileTest, RefusesAFolderThatTakesNoFiles) {
  fs::permissions(folder_.path(), fs::perms{0555});
  const fakes::Unprivileged user;
  if (!user.holds()) GTEST_SKIP() << "cannot act as an ordinary user";
  EXPECT_THROW(WholeFile(path("new"), WholeFile::Mode::replace), WriteError);
}

TEST_F(WholeFileTest, IsWrittenInPlaceWhereTheFolderTakesNoFiles) {
  folder_.write("file", "old and long\n");
  fs::permissions(path("file"), fs::perms{0666});
  fs::permissions(folder_.path(), fs::perms{0555});
  const fakes::Unprivileged user;
  if (!user.holds()) GTEST_SKIP() << "cannot act as an ordinary user";
  replace("file", "new\n");
  EXPECT_EQ(content("file"), "new\n");
}

TEST_F(WholeFileTest, IsAsItWasWhereItCannotBeWrittenInPlace) {
  folder_.write("file", "old\n");
  fs::permissions(path("file"), fs::perms{0666});
  fs::permissions(folder_.path(), fs::perms{0555});
  const fakes::Unprivileged user;
  if (!user.holds()) GTEST_SKIP() << "cannot act as an ordinary user";
  WholeFile file(path("file"), WholeFile::Mode::replace);
  const fakes::FileSizeLimit limit(6);
  EXPECT_THROW(file.write("new and longer\n"), WriteError);
  EXPECT_EQ(content("file"), "old\n");
}

TEST_F(WholeFileTest, IsRefusedWhereItCanNeitherBeReplacedNorKept) {
  folder_.write("file", "old\n");
  fs::permissions(path("file"), fs::perms{0222});
  fs::permissions(folder_.path(), fs::perms{0555});
  {
    const fakes::Unprivileged user;
    if (!user.holds()) GTEST_SKIP() << "cannot act as an ordinary user";
    EXPECT_THROW(replace("file", "new\n"), WriteError);
  }
  fs::permissions(path("file"), fs::perms{0644});
  EXPECT_EQ(content("file"), "old\n");
}

TEST_F(WholeFileTest, TakesANameAsLongAsNamesCanBe) {
  const std::string name(255, 'n');
  replace(name.c_str(), "text\n");
  EXPECT_EQ(content(name.c_str()), "text\n");
}

TEST_F(WholeFileTest, IsTheOneThatALinkLeadsTo) {
  folder_.write("file", "old\n");
  fs::create_symlink("file", path("link"));
  replace("link", "new\n");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content("file"), "new\n");
}

TEST_F(WholeFileTest, IsMadeWhereALinkLeadsToNothing) {
  fs::create_symlink("file", path("link"));
  replace("link", "new\n");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content("file"), "new\n");
}

TEST_F(WholeFileTest, GetsTheUsersUmaskWhereItIsNew) {
  const mode_t before = ::umask(0027);
  replace("file", "text\n");
  ::umask(before);
  EXPECT_EQ(mode_of("file"), fs::perms{0640});
}

TEST_F(WholeFileTest, KeepsTheModeOfTheOldOne) {
  folder_.write("file", "old\n");
  fs::permissions(path("file"), fs::perms{0604});
  replace("file", "new\n");
  EXPECT_EQ(mode_of("file"), fs::perms{0604});
}

TEST_F(WholeFileTest, WritesToAPipeAsItIs) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const Fd reader(::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  replace("pipe", "text\n");
  std::array<char, 16> got{};
  EXPECT_EQ(::read(reader.get(), got.data(), got.size()), 5);
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(WholeFileTest, WaitsForNoReaderOfAPipe) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  try {
    replace("pipe", "text\n");
    FAIL() << "nobody reads it";
  } catch (const WriteError& error) {
    EXPECT_EQ(error.error_number(), ENXIO);
  }
}

TEST_F(WholeFileTest, ExtendsAFile) {
  extend("file", "one\n");
  extend("file", "two\n");
  EXPECT_EQ(content("file"), "one\ntwo\n");
}

TEST_F(WholeFileTest, IsNotMadeBeforeThereIsSomethingToExtendItBy) {
  const WholeFile file(path("file"), WholeFile::Mode::extend);
  EXPECT_EQ(files(), 0U);
}

TEST_F(WholeFileTest, ExtendsAFileByAllOrNothing) {
  folder_.write("file", "old\n");
  WholeFile file(path("file"), WholeFile::Mode::extend);
  const fakes::FileSizeLimit limit(8);
  EXPECT_THROW(file.write("new and longer\n"), WriteError);
  EXPECT_EQ(content("file"), "old\n");
}

TEST_F(WholeFileTest, IsOneFileByTwoNames) {
  EXPECT_TRUE(is_same_file(path("file"), folder_.path().string() + "/./file"));
  EXPECT_FALSE(is_same_file(path("file"), path("other")));
  folder_.write("file", "");
  EXPECT_FALSE(is_same_file(path("file"), path("other")));
  EXPECT_FALSE(is_same_file(path("other"), path("file")));
  fs::create_hard_link(path("file"), path("other"));
  EXPECT_TRUE(is_same_file(path("file"), path("other")));
}

TEST_F(WholeFileTest, TakesADeviceForTwoFiles) {
  EXPECT_FALSE(is_same_file("/dev/null", "/dev/./null"));
}

}  // namespace
}  // namespace wattle
