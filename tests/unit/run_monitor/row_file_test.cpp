#include "run_monitor/row_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>

#include "../power/heard_log.hpp"
#include "base/files/file.hpp"
#include "fakes/file_size_limit.hpp"
#include "fakes/temp_folder.hpp"
#include "fakes/unprivileged.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using power_test::HeardLog;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RowFileTest : public testing::Test {
 protected:
  [[nodiscard]] RowFile open() const { return {folder_.path() / "new" / "deep", cpu_file()}; }
  [[nodiscard]] std::string content() const { return read_file(path_.string()).value_or("none"); }
  void write(const std::string& text) const { folder_.write("new/deep/cpu_metrics.csv", text); }

  fakes::TempFolder folder_;
  std::filesystem::path path_ = folder_.path() / "new" / "deep" / "cpu_metrics.csv";
  HeardLog heard_;
};

const std::string kHeader = "timestamp,usr_pct,idle_pct\n";

TEST_F(RowFileTest, BeginsWithItsHeader) {
  RowFile file = open();
  EXPECT_EQ(file.path(), std::nullopt) << "no row yet";
  file.add("a\nb\n");
  file.add("c\n");
  EXPECT_EQ(content(), kHeader + "a\nb\nc\n");
  EXPECT_EQ(file.path(), path_);
}

TEST_F(RowFileTest, GoesOnAfterTheLastWholeLine) {
  write(kHeader + "a\nb,12.");
  open().add("new\n");
  EXPECT_EQ(content(), kHeader + "a\nnew\n");
}

TEST_F(RowFileTest, StartsAgainWhereNotEvenTheHeaderIsWhole) {
  for (const std::size_t length : {std::size_t{0}, std::size_t{3}, kHeader.size() - 1}) {
    write(kHeader.substr(0, length));
    open().add("new\n");
    EXPECT_EQ(content(), kHeader + "new\n");
  }
}

TEST_F(RowFileTest, LeavesAnotherFileAlone) {
  write("my diary\n");
  EXPECT_THROW((void)open(), FormatError);
  EXPECT_EQ(content(), "my diary\n");
}

TEST_F(RowFileTest, StartsAgainWhereThatIsWanted) {
  write(kHeader + "old\n");
  RowFile file = open();
  EXPECT_EQ(file.begin(), (kHeader + "old\n").size());
  file.clear();
  EXPECT_EQ(file.begin(), 0U);
  file.add("new\n");
  EXPECT_EQ(content(), kHeader + "new\n");
}

TEST_F(RowFileTest, CannotBeMadeWhereOneMayNotWrite) {
  std::filesystem::permissions(
      folder_.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const fakes::Unprivileged user;
  if (!user.holds()) GTEST_SKIP() << "root cannot become another user here";
  EXPECT_THROW((void)open(), WriteError);
}

TEST_F(RowFileTest, ReportsOnceThatTheDiskIsFullAndGoesOnWhenThereIsRoom) {
  RowFile file = open();
  file.add("first\n");
  {
    const fakes::FileSizeLimit limit(kHeader.size() + 10);
    file.add("lost 1\nlost 2\n");
    file.add("lost 3\n");
  }
  file.add("last\n");
  EXPECT_EQ(content(), kHeader + "first\nlast\n");
  EXPECT_EQ(file.lost(), 3U);
  EXPECT_THAT(heard_.messages(),
              ElementsAre(HasSubstr("File too large"),
                          HasSubstr("can be written again; 3 rows are missing in it")));
}

TEST_F(RowFileTest, SaysFromWhenOnRowsAreLost) {
  RowFile file = open();
  file.add("1\n", "1 unknown\n");
  {
    const fakes::FileSizeLimit limit(kHeader.size() + 2);
    file.add("2\n", "2 unknown\n");
    file.add("3\n", "3 unknown\n");
  }
  file.add("4\n", "4 unknown\n");
  file.add("5\n", "5 unknown\n");
  EXPECT_EQ(content(), kHeader + "1\n2 unknown\n4\n5\n");
}

TEST_F(RowFileTest, HasRoomForItsLastRowsOnADiskThatIsFull) {
  std::filesystem::create_directories(path_.parent_path());
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("none", path_.parent_path().c_str(), "tmpfs", 0, "size=128k") != 0) {
    GTEST_SKIP() << "no file system can be mounted here";
  }
  {
    RowFile file = open();
    const std::string row = std::string(99, 'x') + "\n";
    while (file.lost() == 0) file.add(row, "unknown\n");
    file.add(row, "later\n");
    file.add("last\n", {}, LineFile::Room::reserved);
    EXPECT_EQ(file.lost(), 2U);
    EXPECT_TRUE(content().ends_with("x\nunknown\nlast\n"));
  }
  ::umount(path_.parent_path().c_str());
}

TEST_F(RowFileTest, LosesItsRowsOnADeviceThatIsFull) {
  std::filesystem::create_directories(path_.parent_path());
  std::filesystem::create_symlink("/dev/full", path_);
  RowFile file = open();
  file.add("lost\n");
  EXPECT_EQ(file.lost(), 1U);
  EXPECT_EQ(file.path(), std::nullopt);
  EXPECT_THAT(heard_.messages(), ElementsAre(HasSubstr("No space left on device")));
}

TEST_F(RowFileTest, IsMadeAgainWithItsHeaderAndFolderWhereItIsDeleted) {
  RowFile file = open();
  file.add("gone\n");
  std::filesystem::remove_all(folder_.path() / "new");
  file.add("new\n");
  EXPECT_EQ(content(), kHeader + "new\n");
  EXPECT_THAT(heard_.messages(), IsEmpty());
}

TEST_F(RowFileTest, GoesOnWhereTheFolderCannotBeMadeAgain) {
  RowFile file = open();
  file.add("gone\n");
  std::filesystem::remove_all(folder_.path() / "new");
  folder_.write("new", "a file now");
  file.add("lost\n");
  EXPECT_EQ(file.lost(), 1U);
  std::filesystem::remove(folder_.path() / "new");
  file.add("new\n");
  EXPECT_EQ(content(), kHeader + "new\n");
}

TEST_F(RowFileTest, OfGpusIsKnownByTheDateOfItsFirstRow) {
  const std::string row = "2026/11/21 01:50:09.123, 60, 13, 8500, 81559, 123.46, 45, 1410, 1593\n";
  folder_.write("hw_metrics.csv", row + "2026/11/2");
  RowFile(folder_.path(), gpu_file()).add(row);
  EXPECT_EQ(read_file((folder_.path() / "hw_metrics.csv").string()), row + row);
  folder_.write("hw_metrics.csv", "timestamp, utilization.gpu [%]\n");
  EXPECT_THROW(RowFile(folder_.path(), gpu_file()), FormatError);
}

}  // namespace
}  // namespace wattle
