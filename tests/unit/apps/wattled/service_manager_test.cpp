#include "serve/service_manager.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "base/files/fd.hpp"
#include "base/unix_address.hpp"
#include "fakes/temp_folder.hpp"
#include "virtual_loop.hpp"

namespace wattle::daemon {
namespace {

/// A service manager's socket. Nothing here waits: a datagram on this machine is there at once.
class NotifySocket {
 public:
  /// `name`: as in NOTIFY_SOCKET: "/path", or "@name" of a socket without a file.
  explicit NotifySocket(const std::string& name)
      : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    std::string path = name;
    if (path.front() == '@') path.front() = '\0';
    const UnixAddress address = UnixAddress::of(path).value();
    EXPECT_EQ(::bind(fd_.get(), address.get(), address.size()), 0);
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
  }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;
  ~NotifySocket() { ::unsetenv("NOTIFY_SOCKET"); }  // NOLINT(concurrency-mt-unsafe): one thread
  /// The next notification; empty: there is none.
  [[nodiscard]] std::string next() const {
    std::array<char, 64> room{};
    const ssize_t size = ::recv(fd_.get(), room.data(), room.size(), MSG_DONTWAIT);
    return size > 0 ? std::string(room.data(), static_cast<std::size_t>(size)) : std::string();
  }

 private:
  Fd fd_;
};

TEST(ServiceManager, IsNotifiedAtASocketWithAFileAndAtOneWithout) {
  const fakes::TempFolder folder;
  for (const std::string& name :
       {(folder.path() / "notify").string(), "@wattle-test-notify-" + std::to_string(::getpid())}) {
    const NotifySocket socket(name);
    ServiceManager::notify_ready();
    EXPECT_EQ(socket.next(), "READY=1") << name;
    ServiceManager::notify_stopping();
    EXPECT_EQ(socket.next(), "STOPPING=1") << name;
    EXPECT_EQ(socket.next(), "") << name;
  }
}

TEST(ServiceManager, SurvivesAWatchdogThatIsShorterThanItCanServe) {
  // NOLINTBEGIN(concurrency-mt-unsafe): there is one thread
  ::setenv("WATCHDOG_USEC", "1", 1);
  VirtualLoop loop;
  const ServiceManager manager(loop);
  ::unsetenv("WATCHDOG_USEC");
  // NOLINTEND(concurrency-mt-unsafe)
  loop.advance(std::chrono::milliseconds(10));
  EXPECT_EQ(loop.timers(), 1U);
}

}  // namespace
}  // namespace wattle::daemon
