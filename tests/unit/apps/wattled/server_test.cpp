// Whom the server lets in while there is little room. Sockets are real, time is not.
#include "http/server.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "base/unix_address.hpp"
#include "fakes/temp_folder.hpp"
#include "virtual_loop.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::milliseconds;

/// Allows this process as many descriptors as it has, and no more.
class NoDescriptorsLeft {
 public:
  NoDescriptorsLeft() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    // The lowest free number: those below are taken.
    const Fd next(::dup(STDERR_FILENO));
    const rlimit none_left{.rlim_cur = static_cast<rlim_t>(next.get()),
                           .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none_left);
  }
  NoDescriptorsLeft(const NoDescriptorsLeft&) = delete;
  NoDescriptorsLeft& operator=(const NoDescriptorsLeft&) = delete;
  ~NoDescriptorsLeft() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

class FullHouse : public testing::Test {
 protected:
  void open(std::size_t most_connections, int doors = 1) { open({.all = most_connections}, doors); }
  void open(const PlaceLimits& places, int doors = 1) {
    std::vector<ListeningSocket> listeners;
    listeners.reserve(static_cast<std::size_t>(doors));
    for (int i = 0; i < doors; ++i) {
      listeners.push_back(listen_at_file({.path = place(i)}));
    }
    server_.emplace(loop_, service_, std::move(listeners), HttpServerOptions{.places = places});
  }
  [[nodiscard]] std::string place(int door) const {
    return (folder_.path() / std::to_string(door)).string();
  }
  [[nodiscard]] Fd client(int door = 0) const {
    Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const UnixAddress address = UnixAddress::of(place(door)).value();
    EXPECT_EQ(::connect(fd.get(), address.get(), address.size()), 0);
    return fd;
  }
  /// A client that was let in, and sends this.
  [[nodiscard]] Fd admitted(std::string_view bytes) {
    Fd fd = client();
    loop_.run_readable();
    EXPECT_EQ(::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    loop_.run_readable();
    return fd;
  }
  /// Sends requests and reads nothing, until no more is taken; the bytes that it sent.
  [[nodiscard]] std::size_t pipelined_unread(const Fd& fd) {
    std::size_t bytes = 0;
    int idle = 0;
    while (idle < 3) {
      const ssize_t sent =
          ::send(fd.get(), kWhole.data(), kWhole.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      bytes += sent > 0 ? static_cast<std::size_t>(sent) : 0;
      idle = sent > 0 ? 0 : idle + 1;
      loop_.run_readable();
      while (loop_.run_posted() > 0) {
      }
    }
    return bytes;
  }
  /// The received text; "closed" at the end, "nothing" if nothing arrived.
  [[nodiscard]] static std::string heard_by(const Fd& fd) {
    std::array<char, 4096> room{};
    const ssize_t count = ::recv(fd.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (count > 0) return {room.data(), static_cast<std::size_t>(count)};
    return count == 0 || errno == ECONNRESET ? "closed" : "nothing";
  }

  static constexpr std::string_view kHalf = "GET /time HTTP/1.1\r\nHost: ";
  static constexpr std::string_view kWhole = "GET /time HTTP/1.1\r\nHost: localhost\r\n\r\n";
  static constexpr std::string_view kStream =
      "GET /cpu/stream_power HTTP/1.1\r\nHost: localhost\r\n\r\n";

  fakes::TempFolder folder_;
  VirtualLoop loop_;
  Service service_{Inventory{}, loop_, ServiceOptions{}};
  std::optional<HttpServer> server_;
};

TEST_F(FullHouse, WhoHasWaitedLongestMakesRoom) {
  open(3);
  const Fd first = admitted(kHalf);
  const Fd second = admitted("");
  const Fd third = admitted(kHalf);
  const Fd fourth = admitted(kWhole);
  EXPECT_EQ(heard_by(first), "closed");
  EXPECT_EQ(heard_by(second), "nothing");
  EXPECT_EQ(heard_by(third), "nothing");
  EXPECT_TRUE(heard_by(fourth).starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(server_->connections(), 3U);
}

TEST_F(FullHouse, WhoListensToAStreamMakesNoRoom) {
  open(2);
  const Fd stream = admitted(kStream);
  EXPECT_TRUE(heard_by(stream).starts_with("HTTP/1.1 200 "));
  const Fd slow = admitted(kHalf);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(heard_by(admitted(kWhole)).starts_with("HTTP/1.1 200 ")) << i;
  }
  EXPECT_EQ(heard_by(slow), "closed");
  EXPECT_EQ(heard_by(stream), "nothing");
}

TEST_F(FullHouse, HundredsWithHalfARequestKeepNobodyOut) {
  open(50);
  std::vector<Fd> slow;
  slow.reserve(200);
  for (int i = 0; i < 200; ++i) {
    slow.push_back(admitted(kHalf));
    EXPECT_TRUE(heard_by(admitted(kWhole)).starts_with("HTTP/1.1 200 ")) << i;
    EXPECT_LE(server_->connections(), 50U);
  }
}

TEST_F(FullHouse, WhoMakesRoomIsHeardBefore) {
  open(2);
  std::vector<Fd> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(client());
    ::send(clients.back().get(), kWhole.data(), kWhole.size(), MSG_NOSIGNAL);
  }
  loop_.run_readable();  // lets in all of them, one after the other
  loop_.run_readable();
  for (const Fd& each : clients) EXPECT_TRUE(heard_by(each).starts_with("HTTP/1.1 200 "));
}

TEST_F(FullHouse, WhoIsFoundBusyMakesNoRoom) {
  open(1);
  const Fd stream = client();
  ::send(stream.get(), kStream.data(), kStream.size(), MSG_NOSIGNAL);
  const Fd late = client();
  loop_.run_readable();
  EXPECT_TRUE(heard_by(stream).starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(heard_by(late).starts_with("HTTP/1.1 503 "));
}

TEST_F(FullHouse, ACrowdThatIsOverdueIsSentAwayInParts) {
  open(1000);
  std::vector<Fd> slow;
  slow.reserve(200);
  for (int i = 0; i < 200; ++i) slow.push_back(admitted(kHalf));
  const auto sent_away = [&] {
    return std::ranges::count_if(
        slow, [](const Fd& fd) { return heard_by(fd).starts_with("HTTP/1.1 408 "); });
  };
  loop_.advance(milliseconds(4'900));
  EXPECT_EQ(sent_away(), 0);
  loop_.advance(milliseconds(200));
  int all = 0;
  for (int parts = 1; parts <= 4; ++parts) {
    const auto more = static_cast<int>(sent_away());
    EXPECT_LE(more, 64);
    all += more;
    loop_.run_posted();
  }
  EXPECT_EQ(all, 200);
}

TEST_F(FullHouse, WithoutADescriptorWhoHasWaitedLongestMakesRoomToo) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "UndefinedBehaviorSanitizer needs descriptors of its own";
#endif
  open(1000);
  const Fd first = admitted(kHalf);
  const Fd second = admitted(kHalf);
  const Fd third = client();
  const NoDescriptorsLeft none;
  loop_.run_readable();
  EXPECT_EQ(heard_by(first), "closed");
  EXPECT_EQ(heard_by(second), "nothing");
  EXPECT_EQ(server_->connections(), 2U);
}

TEST_F(FullHouse, WithoutADescriptorAndWithAllBusyItRestsAtEachDoorOnce) {
  open(1000, 2);
  const Fd stream = admitted(kStream);
  std::vector<Fd> waiting;
  for (int door : {0, 1}) waiting.push_back(client(door));
  const std::size_t timers = loop_.timers();
  {
    const NoDescriptorsLeft none;
    for (int round = 0; round < 5; ++round) {
      loop_.run_readable();
      EXPECT_EQ(loop_.timers(), timers + 1);
      EXPECT_EQ(loop_.readers(), 1U);  // the stream
      loop_.advance(milliseconds(99));
      EXPECT_EQ(loop_.readers(), 1U);
      loop_.advance(milliseconds(1));
      EXPECT_EQ(loop_.readers(), 3U);
    }
    EXPECT_EQ(server_->connections(), 1U);
  }
  loop_.run_readable();
  EXPECT_EQ(server_->connections(), 3U);
}

TEST_F(FullHouse, WithoutADescriptorAtOneDoorTheOtherIsNotWatchedTwice) {
  open(1000, 2);
  const Fd stream = admitted(kStream);
  const Fd waiting = client(0);
  const NoDescriptorsLeft none;
  // A door that does not wait is not called: the second door is unchanged, and watched once.
  loop_.run_readable();
  loop_.advance(milliseconds(100));
  EXPECT_EQ(loop_.readers(), 3U);
}

constexpr std::string_view kHealth = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

TEST_F(FullHouse, AnswersForItsHealth) {
  open({.all = 2, .guests = 1});
  const Fd one = admitted(kStream);
  const Fd two = admitted(kStream);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(heard_by(admitted(kHealth)).starts_with("HTTP/1.1 200 ")) << i;
    EXPECT_TRUE(heard_by(admitted(kWhole)).starts_with("HTTP/1.1 503 ")) << i;
  }
  EXPECT_LE(server_->connections(), 3U);
  EXPECT_EQ(service_.turned_away()[TurnedAway::full], 3U);
}

TEST_F(FullHouse, GivesItsGuestsNoPlace) {
  open({.all = 1, .guests = 1});
  const Fd stream = admitted(kStream);
  const Fd guest = admitted(kHealth);
  const std::string answer = heard_by(guest);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer;
  EXPECT_NE(answer.find("\r\nConnection: close\r\n"), std::string::npos) << answer;
  const Fd silent = admitted(kHalf);
  const Fd next = admitted(kHealth);
  EXPECT_EQ(heard_by(silent), "closed");
  EXPECT_TRUE(heard_by(next).starts_with("HTTP/1.1 200 "));
}

TEST_F(FullHouse, OfOneUserIsNotFullForOthers) {
  open({.all = 10, .per_user = 2, .guests = 1});
  const Fd one = admitted(kStream);
  const Fd two = admitted(kStream);
  EXPECT_TRUE(heard_by(admitted(kWhole)).starts_with("HTTP/1.1 429 "));
  EXPECT_EQ(service_.turned_away()[TurnedAway::client], 1U);
}

TEST_F(FullHouse, WhoOfAUserHasWaitedLongestMakesRoomForTheUser) {
  open({.all = 10, .per_user = 2});
  const Fd first = admitted(kHalf);
  const Fd second = admitted(kHalf);
  EXPECT_TRUE(heard_by(admitted(kWhole)).starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(heard_by(first), "closed");
  EXPECT_EQ(heard_by(second), "nothing");
}

TEST_F(FullHouse, WhoDoesNotReadAnAnswerMakesRoom) {
  open(1);
  const Fd stuck = admitted("");
  const std::size_t bytes = pipelined_unread(stuck);
  EXPECT_GT(bytes, 0U);
  EXPECT_TRUE(heard_by(admitted(kWhole)).starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(service_.turned_away()[TurnedAway::unread], 1U);
}

TEST_F(FullHouse, KeepsLittleOfAnswersThatNobodyReads) {
  open(1);
  const Fd stuck = admitted("");
  (void)pipelined_unread(stuck);
  std::size_t unread = 0;
  std::array<char, 65536> room{};
  ssize_t count = 0;
  while ((count = ::recv(stuck.get(), room.data(), room.size(), MSG_DONTWAIT)) > 0) {
    unread += static_cast<std::size_t>(count);
  }
  EXPECT_LE(unread, 65536U);
}

TEST_F(FullHouse, WhoHasNotReadForLongestIsCutWhereAnswersTakeTooMuchMemory) {
  open({.all = 10, .unread_bytes = 300});  // an answer to /time is shorter, and two are longer
  const Fd first = admitted("");
  (void)pipelined_unread(first);
  EXPECT_EQ(service_.turned_away()[TurnedAway::unread], 0U);
  const Fd second = admitted("");
  (void)pipelined_unread(second);
  EXPECT_EQ(service_.turned_away()[TurnedAway::unread], 1U);
  EXPECT_EQ(server_->connections(), 1U);
  EXPECT_TRUE(heard_by(admitted(kWhole)).starts_with("HTTP/1.1 200 "));
}

/// A Unix socket and a port.
class TwoDoors : public FullHouse {
 protected:
  void open_both(const PlaceLimits& places) {
    std::vector<ListeningSocket> listeners;
    listeners.push_back(listen_at_file({.path = place(0)}));
    listeners.push_back(listen_at_tcp({.host = "127.0.0.1", .port = 0}));
    const std::string name = listeners.back().name;
    port_ = static_cast<std::uint16_t>(std::stoi(name.substr(name.rfind(':') + 1)));
    server_.emplace(loop_, service_, std::move(listeners), HttpServerOptions{.places = places});
  }
  [[nodiscard]] Fd tcp_client() {
    Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int small = 4096;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(
        ::connect(fd.get(), static_cast<sockaddr*>(static_cast<void*>(&address)), sizeof address),
        0);
    loop_.run_readable();
    return fd;
  }
  void ask(const Fd& fd, std::string_view bytes) {
    EXPECT_EQ(::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    for (int i = 0; i < 2; ++i) loop_.run_readable();
    while (loop_.run_posted() > 0) {
    }
  }
  [[nodiscard]] static int waiting_at(const Fd& fd) {
    int bytes = 0;
    ::ioctl(fd.get(), FIONREAD, &bytes);
    return bytes;
  }
  /// As many answers as the kernel keeps for a client of the Unix socket that reads none.
  [[nodiscard]] int answers_that_fit() {
    const Fd trial = admitted("");
    int answers = 0;
    for (int before = 0;; ++answers) {
      ask(trial, kWhole);
      if (waiting_at(trial) == before) return answers;
      before = waiting_at(trial);
    }
  }

 private:
  std::uint16_t port_ = 0;
};

TEST_F(TwoDoors, WhoIsSentAwayAndReadsNothingMayCutTheNextInTheList) {
  open_both({.all = 10});
  const int answers = answers_that_fit();
  server_.reset();
  open_both({.all = 10, .unread_bytes = 400});  // one answer, and not two
  const Fd overdue = admitted("");
  for (int i = 0; i < answers; ++i) ask(overdue, kWhole);
  ask(overdue, kHalf);
  const Fd unread = tcp_client();
  loop_.advance(milliseconds(2'500));
  (void)pipelined_unread(unread);
  ASSERT_EQ(server_->connections(), 2U);
  ASSERT_EQ(service_.turned_away()[TurnedAway::unread], 0U);
  loop_.advance(milliseconds(2'600));
  EXPECT_EQ(service_.turned_away()[TurnedAway::unread], 1U);
  EXPECT_EQ(server_->connections(), 1U);
}

TEST_F(FullHouse, SurvivesAKernelWithoutMemoryToWaitForAClient) {
  open(10);
  loop_.has_memory = false;
  const Fd refused = client();
  loop_.run_readable();
  EXPECT_EQ(heard_by(refused), "closed");
  loop_.has_memory = true;
  EXPECT_TRUE(heard_by(admitted(kWhole)).starts_with("HTTP/1.1 200 "));
}

TEST_F(FullHouse, EndsAClientForWhichTheKernelCannotWait) {
  open(10);
  const Fd stream = admitted(kStream);
  EXPECT_TRUE(heard_by(stream).starts_with("HTTP/1.1 200 "));
  loop_.fail_watches();  // the door's, too: it is watched again after a rest
  loop_.run_posted();
  EXPECT_EQ(heard_by(stream), "closed");
  loop_.advance(milliseconds(100));
  EXPECT_TRUE(heard_by(admitted(kWhole)).starts_with("HTTP/1.1 200 "));
}

}  // namespace
}  // namespace wattle::daemon
