#include "base/files/file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "fakes/temp_folder.hpp"

namespace wattle {
namespace {

class File : public testing::Test {
 protected:
  [[nodiscard]] std::string path(std::string_view content) const {
    folder_.write("file", content);
    return (folder_.path() / "file").string();
  }
  fakes::TempFolder folder_;
};

TEST_F(File, IsReadWhole) {
  const std::string content(100'000, 'x');
  EXPECT_EQ(read_file(path(content)), content);
}

TEST_F(File, MayBeEmpty) { EXPECT_EQ(read_file(path("")), ""); }

TEST_F(File, IsReadUpToTheLimit) {
  EXPECT_EQ(read_file(path("0123456789"), 4), "0123");
  EXPECT_EQ(read_file(path(std::string(20'000, 'x')), 10'000), std::string(10'000, 'x'));
}

TEST_F(File, ThatIsAbsentGivesTheCause) {
  errno = 0;
  EXPECT_EQ(read_file((folder_.path() / "none").string()), std::nullopt);
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(File, ThatIsAFolderGivesTheCause) {
  errno = 0;
  EXPECT_EQ(read_file(folder_.path().string()), std::nullopt);
  EXPECT_EQ(errno, EISDIR);
}

TEST_F(File, ThatIsAPipeNobodyWritesToDoesNotHang) {
  const std::string fifo = (folder_.path() / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(read_file(fifo), "");
}

TEST_F(File, LineComesWithoutItsEndAndBlanks) {
  EXPECT_EQ(read_line(path("package-0\n")), "package-0");
  EXPECT_EQ(read_line(path("  a b\t\r\nsecond\n")), "a b");
  EXPECT_EQ(read_line(path("no end")), "no end");
}

TEST_F(File, LineIsAbsentWithoutErrorWhereTheFileIsEmpty) {
  for (const char* content : {"", "\n", "  \t\n"}) {
    errno = EIO;
    EXPECT_EQ(read_line(path(content)), std::nullopt);
    EXPECT_EQ(errno, 0);
  }
}

TEST_F(File, LineOfAHugeFileIsCut) {
  EXPECT_EQ(read_line(path(std::string(1'000'000, 'x'))), std::string(4096, 'x'));
}

TEST_F(File, FoldersAreListedInOrder) {
  for (const char* name : {"b", "a", "c1", "12", "7", "-1", "99999999999"}) folder_.write(name, "");
  const std::string path = folder_.path().string();
  EXPECT_EQ(list_folder(path).names,
            (std::vector<std::string>{"-1", "12", "7", "99999999999", "a", "b", "c1"}));
  EXPECT_EQ(list_folder(path + "/none").error, ENOENT);
  std::vector<int> numbers = numeric_entries(AT_FDCWD, path.c_str());
  std::ranges::sort(numbers);
  EXPECT_EQ(numbers, (std::vector{7, 12}));
  EXPECT_EQ(numeric_entries(-1, "none"), std::vector<int>());
}

}  // namespace
}  // namespace wattle
