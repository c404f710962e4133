#include "base/files/output_path.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "fakes/temp_folder.hpp"

namespace wattle {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kSomebody = 65534;

/// A folder in which every user may make files, as /tmp.
class OutputPath : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::chmod(folder_.path().c_str(), 01777), 0); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() / name; }
  void link(const std::string& name, const std::string& target) const {
    fs::create_symlink(target, path(name));
  }
  /// The link then belongs to another user, who does not own the folder.
  [[nodiscard]] bool give_away(const std::string& name) const {
    return ::lchown(path(name).c_str(), kSomebody, kSomebody) == 0;
  }
  /// The `errno` of opening it; 0 if it opens.
  [[nodiscard]] int error_of(const std::string& name, int flags = O_WRONLY | O_CREAT) const {
    errno = 0;
    return open_output(path(name), flags) ? 0 : errno;
  }

  fakes::TempFolder folder_;
};

TEST_F(OutputPath, FollowsALinkOfItsOwn) {
  link("link", "file");
  EXPECT_EQ(error_of("link"), 0);
  EXPECT_TRUE(fs::is_regular_file(path("file")));
}

TEST_F(OutputPath, FollowsNoLinkOfAnotherUserInAStickyFolder) {
  folder_.write("file", "precious");
  link("link", "file");
  if (!give_away("link")) GTEST_SKIP() << "only root can give a link away";
  EXPECT_EQ(error_of("link", O_WRONLY | O_TRUNC), EACCES);
  EXPECT_EQ(fs::file_size(path("file")), 8U);
}

TEST_F(OutputPath, FollowsNoLinkOfAnotherUserAfterItsOwn) {
  link("second", "file");
  link("first", "second");
  if (!give_away("second")) GTEST_SKIP() << "only root can give a link away";
  EXPECT_EQ(error_of("first"), EACCES);
  EXPECT_FALSE(fs::exists(path("file")));
}

TEST_F(OutputPath, FollowsALinkOfAnotherUserInAFolderThatIsNotShared) {
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  link("link", "file");
  if (!give_away("link")) GTEST_SKIP() << "only root can give a link away";
  EXPECT_EQ(error_of("link"), 0);
}

TEST_F(OutputPath, FollowsALinkThatIsNoPath) {
  EXPECT_TRUE(open_output("/proc/self/fd/1", O_WRONLY));
}

TEST_F(OutputPath, WaitsForNoReaderOfAFifo) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(error_of("fifo"), ENXIO);
}

TEST_F(OutputPath, WaitsForAReaderThatIsSlow) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  const Fd reader(::open(path("fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const Fd writer = open_output(path("fifo"), O_WRONLY);
  EXPECT_EQ(::fcntl(writer.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(OutputPath, GivesANewFileTheModeThatIsAskedFor) {
  ASSERT_TRUE(open_output(path("file"), O_WRONLY | O_CREAT, 0600));
  struct stat status {};
  ASSERT_EQ(::stat(path("file").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
}

}  // namespace
}  // namespace wattle
