// Sockets that are made while another process changes the folder.
#include "http/listening.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>

#include "fakes/temp_folder.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

class SocketFile : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return (folder_.path() / "socket").string(); }
  [[nodiscard]] static struct stat status_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0);
    return status;
  }
  fakes::TempFolder folder_;
};

TEST_F(SocketFile, HasItsModeWhateverTheUmaskIs) {
  for (const mode_t mode : {0600U, 0660U, 0666U, 0777U}) {
    const mode_t before = ::umask(0077);
    const ListeningSocket listener = listen_at_file({.path = path(), .mode = mode});
    EXPECT_EQ(::umask(before), 0077U);
    EXPECT_EQ(status_of(path()).st_mode & 07777U, mode);
    ::unlink(path().c_str());
  }
}

TEST_F(SocketFile, IsRemovedIfItIsStillTheSame) {
  const ListeningSocket listener = listen_at_file({.path = path()});
  ASSERT_EQ(::unlink(path().c_str()), 0);
  const ListeningSocket other = listen_at_file({.path = path()});
  remove_socket_file(listener);
  EXPECT_EQ(::access(path().c_str(), F_OK), 0);
  remove_socket_file(other);
  EXPECT_NE(::access(path().c_str(), F_OK), 0);
  remove_socket_file(other);
}

TEST_F(SocketFile, StaysWhereTheServiceManagerMadeIt) {
  ListeningSocket made = listen_at_file({.path = path()});
  remove_socket_file(adopt_listener(std::move(made.fd)));
  EXPECT_EQ(::access(path().c_str(), F_OK), 0);
}

TEST_F(SocketFile, IsInAFolderOfTheUserWhoRemovesIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives folders away";
  constexpr uid_t kUser = 65'534;
  const std::string folder = (folder_.path() / "made").string();
  for (const uid_t owner : {kUser, kUser - 1}) {
    const ListeningSocket listener =
        listen_at_file({.path = folder + "/socket", .folder_owner = owner});
    EXPECT_EQ(status_of(folder).st_uid, kUser) << "one that is there stays as it is";
    remove_socket_file(listener);
  }
}

TEST_F(SocketFile, IsGivenToItsUserAndGroup) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  constexpr uid_t kUser = 65'534;
  const ListeningSocket listener =
      listen_at_file({.path = path(), .mode = 0660, .owner = kUser, .group = kUser});
  EXPECT_EQ(status_of(path()).st_uid, kUser);
  EXPECT_EQ(status_of(path()).st_gid, kUser);
  EXPECT_EQ(status_of(path()).st_mode & 07777U, 0660U);
}

TEST_F(SocketFile, IsNeverAnotherFileThatTookItsName) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const std::string precious = (folder_.path() / "precious").string();
  std::ofstream(precious) << "precious";
  ::chmod(precious.c_str(), 0600);
  std::atomic<bool> is_over{false};
  std::thread attacker([&] {
    // A second name for the file, moved to where the socket is.
    const std::string swapped = (folder_.path() / "swapped").string();
    while (!is_over) {
      struct stat status {};
      if (::lstat(path().c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) continue;
      if (::link(precious.c_str(), swapped.c_str()) != 0) continue;
      (void)::rename(swapped.c_str(), path().c_str());
    }
  });
  constexpr uid_t kUser = 65'534;
  for (int i = 0; i < 300; ++i) {
    try {
      const ListeningSocket listener =
          listen_at_file({.path = path(), .mode = 0660, .owner = kUser, .group = kUser});
    } catch (const Error&) {
      // It saw that the file is another one.
    }
    ::unlink(path().c_str());
  }
  is_over = true;
  attacker.join();
  const struct stat status = status_of(precious);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  EXPECT_EQ(status.st_uid, 0U);
}

}  // namespace
}  // namespace wattle::daemon
