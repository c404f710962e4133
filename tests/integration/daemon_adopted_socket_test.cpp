// Sockets that the service manager makes, and the daemon takes over.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "base/unix_address.hpp"
#include "daemon.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;

/// A daemon at a socket that the service manager has made.
class AdoptedSocket : public DaemonTest {
 protected:
  [[nodiscard]] Start start_with(mode_t mode, const Words& options = {}) {
    listener_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const UnixAddress address = UnixAddress::of(socket()).value();
    const int listener = listener_.get();
    EXPECT_EQ(::bind(listener, address.get(), address.size()), 0);
    EXPECT_EQ(::chmod(socket().c_str(), mode), 0);
    EXPECT_EQ(::listen(listener, 16), 0);
    Start start = wattled(Words{"serve", "--socket-path", path("not_this").string()} + options);
    const auto redirect = start.prepare;
    start.prepare = [redirect, listener] {
      redirect();
      if (listener == 3) {
        ::fcntl(3, F_SETFD, 0);
      } else {
        ::dup2(listener, 3);
      }
    };
    // Its own number is known to the process alone.
    start.command =
        Words{"sh", "-c", "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$@\"", "sh"} + start.command;
    return start;
  }

 private:
  Fd listener_;
};

TEST_F(AdoptedSocket, WithControlForEveryUserIsRefused) {
  const Words control = {"--enable", "gpu-read,gpu-control", "--keep-settings"};
  EXPECT_EQ(run(start_with(0666, control)).code(), 1);
  EXPECT_TRUE(logs(HasSubstr("will not let every user of this machine set GPUs at " + socket())));
  EXPECT_TRUE(logs(HasSubstr("SocketMode=0660")));
}

TEST_F(AdoptedSocket, MayHaveControlWhateverTheModeOfTheOptions) {
  Process daemon(
      start_with(0600, {"--enable", "gpu-read,gpu-control", "--keep-settings", "--settings-journal",
                        path("settings").string(), "--socket-permissions", "666"}));
  EXPECT_EQ(get("/time").status, 200);
}

TEST_F(AdoptedSocket, IsNamedWithWhoMayConnect) {
  Process daemon(start_with(0666));
  EXPECT_EQ(get("/time").status, 200);
  EXPECT_TRUE(logs(HasSubstr(socket() + ": every user may connect")));
}

TEST_F(AdoptedSocket, IsServedAndStays) {
  Process daemon(start_with(0660));
  EXPECT_EQ(get("/time").status, 200);
  daemon.send(SIGTERM);
  EXPECT_EQ(daemon.wait().code(), 0);
  EXPECT_EQ(::access(socket().c_str(), F_OK), 0);
}

// It may be one of TCP, where these have an effect.
TEST_F(AdoptedSocket, LeavesOptionsOfEitherModeUnjudged) {
  Process daemon(start_with(0660, {"--allow-plain-http", "--max-connections-per-client", "9"}));
  EXPECT_EQ(get("/time").status, 200);
  EXPECT_THAT(log(), testing::Not(HasSubstr("has no effect")));
}

}  // namespace
}  // namespace wattle::integration
