#include "otlp/plain_post.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "wattle/error.hpp"

namespace wattle::otlp {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using namespace std::chrono_literals;

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

/// Answers each request with the next text; an empty one hangs up. Without a text it answers
/// nothing.
class PlainServer {
 public:
  explicit PlainServer(std::vector<std::string> answers) : answers_(std::move(answers)) {
    socket_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);  // NOLINT
    EXPECT_EQ(::listen(socket_.get(), 8), 0);
    EXPECT_EQ(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size),
              0);  // NOLINT
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~PlainServer() {
    is_over_ = true;
    thread_.join();
  }
  PlainServer(const PlainServer&) = delete;
  PlainServer& operator=(const PlainServer&) = delete;

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  /// After the end of the requests.
  [[nodiscard]] const std::vector<std::string>& requests() const { return requests_; }
  [[nodiscard]] int connections() const { return connections_; }

 private:
  [[nodiscard]] bool wait(int fd) const {
    while (!is_over_) {
      pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
      if (::poll(&waiting, 1, 5) > 0) return true;
    }
    return false;
  }
  void serve() {
    while (wait(socket_.get())) {
      const Fd client(::accept(socket_.get(), nullptr, nullptr));
      ++connections_;
      while (talk(client.get())) {
      }
    }
  }
  /// False if the connection has ended.
  bool talk(int fd) {
    std::string request;
    std::size_t missing = 1;
    while (missing > 0) {
      if (!wait(fd)) return false;
      std::array<char, 65536> room{};
      const ssize_t count = ::recv(fd, room.data(), room.size(), 0);
      if (count <= 0) return false;
      request.append(room.data(), static_cast<std::size_t>(count));
      const std::size_t head = request.find("\r\n\r\n");
      const std::size_t length = request.find("Content-Length: ");
      if (head == std::string::npos || length == std::string::npos) continue;
      const std::size_t whole = head + 4 + std::stoul(request.substr(length + 16));
      missing = whole - std::min(whole, request.size());
    }
    requests_.push_back(request);
    if (next_ == answers_.size()) return wait(fd);
    const std::string& answer = answers_[next_++];
    if (answer.empty()) return false;
    EXPECT_EQ(::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(answer.size()));
    return true;
  }

  std::vector<std::string> answers_;
  std::vector<std::string> requests_{};
  std::size_t next_ = 0;
  std::atomic<int> connections_{0};
  std::atomic<bool> is_over_{false};
  Fd socket_{};
  int port_ = 0;
  std::thread thread_{};
};

OtlpAnswer post(OtlpPost& poster, std::string body, std::chrono::milliseconds timeout = 60s) {
  return poster.post({.signal = OtlpSignal::metrics, .body = std::move(body)}, timeout,
                     [] { return false; });
}

TEST(PlainUrl, HasAHostAPortAndAPath) {
  const auto parts = [](const char* url) {
    const auto found = plain_url_of(url);
    return found ? found->host + "|" + found->port + "|" + found->authority + "|" + found->path
                 : "none";
  };
  EXPECT_EQ(parts("http://collector:4318"), "collector|4318|collector:4318|");
  EXPECT_EQ(parts("http://collector/a/b"), "collector|80|collector|/a/b");
  EXPECT_EQ(parts("http://[::1]:4318/x"), "::1|4318|[::1]:4318|/x");
  EXPECT_EQ(parts("http://[::1]"), "::1|80|[::1]|");
  EXPECT_EQ(parts("http://collector:"), "collector|80|collector:|");
  for (const char* const url : {"https://a", "http://", "http://:80", "http://a:b", "http://[::1",
                                "http://[::1]x", "http://a:123456"}) {
    EXPECT_EQ(parts(url), "none") << url;
  }
  EXPECT_THROW(PlainPost(OtlpTarget{.url = "http://a:b"}), InvalidArgument);
}

TEST(PlainPost, SendsARequestAndKeepsItsConnection) {
  PlainServer server({std::string(kOk), std::string(kOk)});
  PlainPost poster({.url = server.url() + "/otlp", .header_lines = {"Authorization: Bearer x"}});
  EXPECT_EQ(post(poster, "first").status, 200);
  const std::string large(3 << 20, 'x');  // more than a socket takes at once
  const OtlpAnswer answer = post(poster, large);
  EXPECT_EQ(answer.body, "{}");
  EXPECT_EQ(server.connections(), 1);
  ASSERT_EQ(server.requests().size(), 2U);
  EXPECT_THAT(server.requests()[0],
              StartsWith("POST /otlp/v1/metrics HTTP/1.1\r\nHost: 127.0.0.1:"));
  EXPECT_THAT(server.requests()[0], HasSubstr("\r\nAuthorization: Bearer x\r\n"));
  EXPECT_THAT(server.requests()[0], HasSubstr("\r\nContent-Type: application/json\r\n"));
  EXPECT_TRUE(server.requests()[0].ends_with("\r\n\r\nfirst"));
  EXPECT_TRUE(server.requests()[1].ends_with("\r\n\r\n" + large));
}

TEST(PlainPost, ConnectsAgainIfTheCollectorClosedAKeptConnection) {
  PlainServer server({std::string(kOk), "", std::string(kOk)});
  PlainPost poster({.url = server.url()});
  EXPECT_EQ(post(poster, "1").status, 200);
  EXPECT_EQ(post(poster, "2").status, 200);
  EXPECT_EQ(server.connections(), 2);
}

TEST(PlainPost, SaysWhyThereIsNoAnswer) {
  {
    PlainServer server(
        {"\xff\x01 no http\r\n\r\n", "", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"});
    PlainPost poster({.url = server.url()});
    EXPECT_EQ(post(poster, "1").failure, "the answer is not HTTP");
    EXPECT_EQ(post(poster, "2").failure, "the collector closed the connection");
    EXPECT_EQ(post(poster, "3", 200ms).failure, "no answer in time");
  }
  std::string closed;
  { closed = PlainServer({}).url(); }
  PlainPost nobody({.url = closed});
  EXPECT_THAT(post(nobody, "4").failure, StartsWith("cannot connect to 127.0.0.1:"));
}

TEST(PlainPost, FindsAHostByItsName) {
  PlainServer server({std::string(kOk)});
  const std::string port = server.url().substr(server.url().rfind(':'));
  PlainPost poster({.url = "http://localhost" + port});
  EXPECT_EQ(post(poster, "1").status, 200);
}

TEST(PlainPost, EndsEarlyIfItIsOver) {
  PlainServer server({});
  PlainPost poster({.url = server.url()});
  int asked = 0;
  const OtlpAnswer answer = poster.post({.signal = OtlpSignal::traces, .body = "1"},
                                        std::chrono::hours(1), [&] { return ++asked > 3; });
  EXPECT_EQ(answer.failure, "it was interrupted");
}

TEST(PlainPost, IsTakenWithoutTls) {
  const auto plain = make_post({.url = "http://127.0.0.1:1"});
  EXPECT_NE(dynamic_cast<PlainPost*>(plain.get()), nullptr);
}

}  // namespace
}  // namespace wattle::otlp
