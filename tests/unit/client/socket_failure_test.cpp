#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "base/files/fd.hpp"
#include "base/unix_address.hpp"
#include "client/transport/curl_request.hpp"
#include "fakes/temp_folder.hpp"
#include "fakes/unprivileged.hpp"
#include "unit/report/golden.hpp"

namespace wattle::client {
namespace {

constexpr int kBacklog = 1;

class SocketFailure : public testing::Test {
 protected:
  SocketFailure() { ::chmod(folder_.path().c_str(), 0755); }
  [[nodiscard]] std::string path() const { return (folder_.path() / "wattled.sock").string(); }
  /// Makes a socket of that group and mode. Closing it leaves a file without a listener.
  [[nodiscard]] Fd socket(gid_t group, mode_t mode) const {
    Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const UnixAddress address = UnixAddress::of(path()).value();
    EXPECT_EQ(::bind(fd.get(), address.get(), address.size()), 0);
    EXPECT_EQ(::listen(fd.get(), kBacklog), 0);
    EXPECT_EQ(::chmod(path().c_str(), mode), 0);
    if (::geteuid() == 0) {
      EXPECT_EQ(::chown(path().c_str(), 0, group), 0);
    }
    return fd;
  }
  /// The message, with a path that is the same on every machine.
  [[nodiscard]] std::string failure() const {
    std::string text = socket_failure(path());
    const std::size_t at = text.find(path());
    if (at != std::string::npos) text.replace(at, path().size(), "PATH");
    return text + "\n";
  }

  fakes::TempFolder folder_;
};

TEST_F(SocketFailure, NamesAPathThatIsNotThere) {
  testing_support::expect_golden("socket_absent.txt", failure());
}

TEST_F(SocketFailure, NamesAFileThatIsNoSocket) {
  folder_.write("wattled.sock", "text");
  testing_support::expect_golden("socket_plain_file.txt", failure());
}

TEST_F(SocketFailure, NamesASocketThatNobodyListensAt) {
  (void)socket(0, 0660);
  testing_support::expect_golden("socket_deserted.txt", failure());
}

TEST_F(SocketFailure, NamesTheGroupToJoin) {
  const Fd listens = socket(54321, 0660);
  const fakes::Unprivileged nobody;
  if (!nobody.holds() || ::geteuid() != 65534) GTEST_SKIP() << "root cannot become anybody else";
  testing_support::expect_golden("socket_denied.txt", failure());
}

TEST_F(SocketFailure, AsksNobodyToJoinTheGroupRoot) {
  const Fd listens = socket(0, 0600);
  const fakes::Unprivileged nobody;
  if (!nobody.holds() || ::geteuid() != 65534) GTEST_SKIP() << "root cannot become anybody else";
  testing_support::expect_golden("socket_of_root.txt", failure());
}

TEST_F(SocketFailure, IsNoneWhereSomebodyListens) {
  const Fd listens = socket(0, 0660);
  EXPECT_EQ(socket_failure(path()), "");
}

TEST_F(SocketFailure, StandsInTheErrorOfAClient) {
  try {
    const DaemonClient client(Server::unix_socket(path()));
    FAIL() << "nobody is there";
  } catch (const ConnectionError& error) {
    EXPECT_EQ(std::string(error.what()), "cannot find what is served: the daemon at " + path() +
                                             ": " + socket_failure(path()));
  }
}

TEST(ServerWithoutAnything, IsRefused) {
  for (const Server& server :
       {Server{}, Server{.transport = Server::Transport::http}, Server{.endpoint = "node7:4938"}}) {
    EXPECT_THROW((void)lines_for(server), InvalidArgument);
    EXPECT_THROW(DaemonClient{server}, InvalidArgument);
  }
}

}  // namespace
}  // namespace wattle::client
