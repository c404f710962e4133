// Thousands of clients that want the daemon for themselves, and one that does not.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <functional>
#include <thread>

#include "base/unix_address.hpp"
#include "daemon.hpp"
#include "sanitized.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::size_t kHostile = kSanitized ? 400 : 2000;

std::string hostile_request(std::string_view target) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

/// One of the crowd. It reads nothing, ever.
class Hostile {
 public:
  using Connect = std::function<Fd()>;

  Hostile(std::size_t number, const Connect& connect) : kind_(number % 5), connect_(connect) {}

  /// Does what it can without waiting; comes back at once where it was put out.
  void act() {
    if (!fd_ || kind_ == kCaller) {
      fd_ = connect_();
      sent_ = 0;
    }
    const std::string& text = words();
    // The first is sent over and over.
    const std::size_t most = kind_ == kUnread ? text.size() * 50 : text.size();
    while (sent_ < most) {
      const std::size_t begin = sent_ % text.size();
      const ssize_t count =
          ::send(fd_.get(), text.data() + begin, text.size() - begin, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0) {
        if (errno != EAGAIN && errno != EINPROGRESS && errno != ENOTCONN) fd_.reset();
        return;
      }
      sent_ += static_cast<std::size_t>(count);
    }
    char byte = 0;
    if (kind_ != kUnread && ::recv(fd_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0) fd_.reset();
  }

 private:
  static constexpr std::size_t kUnread = 0;
  static constexpr std::size_t kCaller = 4;

  [[nodiscard]] const std::string& words() const {
    static const std::array<std::string, 5> kWords = {
        hostile_request("/metrics") + hostile_request("/discover"),
        hostile_request("/gpu/stream_power"),
        "GET /time HTTP/1.1\r\nHost: ", hostile_request("/cpu/stream_power"),
        hostile_request("/health")};
    return kWords.at(kind_);
  }

  std::size_t kind_;
  const Connect& connect_;
  Fd fd_;
  std::size_t sent_ = 0;
};

/// The crowd, in a thread of its own. `prepare` is called there first.
class Crowd {
 public:
  Crowd(
      std::size_t size, Hostile::Connect connect, std::function<void()> prepare = [] {})
      : connect_(std::move(connect)) {
    thread_ = std::thread([this, size, prepare = std::move(prepare)] {
      prepare();
      std::vector<Hostile> all;
      for (std::size_t i = 0; i < size; ++i) all.emplace_back(i, connect_);
      while (!is_over_) {
        for (Hostile& each : all) each.act();
        ++rounds_;
      }
    });
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd() {
    is_over_ = true;
    thread_.join();
  }
  [[nodiscard]] int rounds() const noexcept { return rounds_; }

 private:
  Hostile::Connect connect_;
  std::atomic<bool> is_over_{false};
  std::atomic<int> rounds_{0};
  std::thread thread_;
};

class DaemonHostile : public DaemonTest {
 protected:
  DaemonHostile() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, kHostile + 512);
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  [[nodiscard]] Fd connected_to_port() const {
    Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port_);
    (void)::connect(fd.get(), generic(address), sizeof address);
    return fd;
  }
  [[nodiscard]] Fd connected_to_file() const {
    Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const UnixAddress address = UnixAddress::of(socket()).value();
    (void)::connect(fd.get(), address.get(), address.size());
    return fd;
  }
  /// Asks in new connections and in one that it keeps, and follows a stream.
  void expect_that_one_is_served(const Crowd& crowd) const {
    ASSERT_TRUE(eventually([&] { return crowd.rounds() > 0; }));
    HttpClient kept = client();
    HttpClient stream = client();
    stream.send(hostile_request("/gpu/stream_power"));
    EXPECT_THAT(stream.read_head(), StartsWith("HTTP/1.1 200 "));
    const int rounds = crowd.rounds();
    for (int i = 0; i < 200 || crowd.rounds() < rounds + 5; ++i) {
      ASSERT_EQ(get("/gpu/get_power").status, 200) << i << log();
      ASSERT_EQ(kept.get("/time").status, 200) << i << log();
    }
    EXPECT_FALSE(stream.next_chunk().empty());
    EXPECT_THAT(get("/metrics").body, HasSubstr("wattle_clients_turned_away_total"));
  }
  void end_well() {
    daemon_->send(SIGTERM);
    EXPECT_EQ(daemon_->wait().code(), 0);
    EXPECT_EQ(log().find("Sanitizer"), std::string::npos) << log();
  }

 private:
  template <class Address>
  static const sockaddr* generic(const Address& address) {
    return static_cast<const sockaddr*>(static_cast<const void*>(&address));
  }
};

TEST_F(DaemonHostile, ClientsOfTcpNeverKeepOneOfTheUnixSocketOut) {
  const std::string most = std::to_string(kHostile / 2);
  serve({"--max-connections", most, "--max-connections-per-client", most});
  {
    const Crowd crowd(kHostile, [this] { return connected_to_port(); });
    expect_that_one_is_served(crowd);
    EXPECT_TRUE(logs(HasSubstr("turned clients away")));
  }
  end_well();
}

TEST_F(DaemonHostile, ClientsOfAnotherUserNeverKeepOneOfTheUnixSocketOut) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root is two users";
  ::chmod(folder_.path().c_str(), 0755);
  serve({"--max-connections", std::to_string(kHostile / 2), "--socket-permissions", "666"});
  {
    // Of the thread alone: glibc would change all of them.
    const auto become_nobody = [] { (void)::syscall(SYS_setresuid, kNobody, kNobody, kNobody); };
    const Crowd crowd(
        kHostile, [this] { return connected_to_file(); }, become_nobody);
    expect_that_one_is_served(crowd);
  }
  end_well();
}

TEST_F(DaemonHostile, ClientsLeaveHealthToBeAskedForByOthers) {
  serve({"--max-connections", "64", "--max-connections-per-client", "64"});
  const Crowd crowd(kHostile, [this] { return connected_to_port(); });
  ASSERT_TRUE(eventually([&] { return crowd.rounds() > 1; }));
  EXPECT_TRUE(eventually([&] { return tcp_client().get("/health").status == 200; }));
}

}  // namespace
}  // namespace wattle::integration
