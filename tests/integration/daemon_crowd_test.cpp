// Many clients at once, good ones and others.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "daemon.hpp"
#include "jwt.hpp"
#include "sanitized.hpp"

namespace wattle::integration {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kCrowdKey = "daemon-crowd-test-signing-key-of-40-bytes";

std::string request(std::string_view target, std::string_view token = {}) {
  std::string text = "GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n";
  if (!token.empty()) text += "Authorization: Bearer " + std::string(token) + "\r\n";
  return text + "\r\n";
}

class DaemonCrowd : public DaemonTest {
 protected:
  [[nodiscard]] std::size_t descriptors() const {
    const std::filesystem::directory_iterator all("/proc/" + std::to_string(daemon_->pid()) +
                                                  "/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  void end_well() {
    daemon_->send(SIGTERM);
    EXPECT_EQ(daemon_->wait().code(), 0);
    // What a sanitizer has to say stands there.
    EXPECT_EQ(log().find("Sanitizer"), std::string::npos) << log();
  }
};

/// One of the crowd: in turn a reader of streams, one who asks and asks, one without rights, and
/// one who goes away in the middle of something.
class Somebody {
 public:
  Somebody(HttpClient client, std::size_t number, const std::string& token)
      : client_(std::move(client)), number_(number), token_(token) {}

  void begin() {
    switch (number_ % 5) {
      case 0:
        client_.send(request("/gpu/stream_power", token_));
        break;
      case 1:
        client_.send(request("/cpu/stream_power?cpu_ids=0", token_));
        break;
      case 2:
        for (const char* const target : kTargets) client_.send(request(target, token_));
        break;
      case 3:
        for (int i = 0; i < 5; ++i) client_.send(request("/gpu/get_power", "no.good.token"));
        break;
      default:
        vanish();
    }
  }
  void end() {
    switch (number_ % 5) {
      case 0:
      case 1:
        EXPECT_THAT(client_.read_head(), StartsWith("HTTP/1.1 200 "));
        for (int i = 0; i < 3; ++i) EXPECT_THAT(client_.next_event(), StartsWith("data: {"));
        break;
      case 2:
        for (const char* const target : kTargets) {
          const HttpAnswer answer = client_.read_answer();
          // On a busy machine the fake's counters stand still for a while.
          const bool stood = answer.body.find("its counter does not move") != std::string::npos;
          EXPECT_TRUE(answer.status == 200 || stood) << target << ": " << answer.body;
        }
        break;
      case 3:
        for (int i = 0; i < 5; ++i) EXPECT_THAT(client_.read_answer().status, AnyOf(401, 429));
        break;
      default:
        break;
    }
  }

 private:
  static constexpr std::array kTargets = {"/gpu/get_power",
                                          "/discover",
                                          "/cpu/get_cumulative_energy?cpu=true&dram=true",
                                          "/gpu/get_cumulative_energy?gpu_ids=0",
                                          "/metrics",
                                          "/cpu/get_power",
                                          "/api/v1/energy?from=1&to=2",
                                          "/auth/whoami"};
  void vanish() {
    const std::string stream = request("/gpu/stream_power", token_);
    switch (number_ % 4) {
      case 0:
        client_.send(std::string_view(stream).substr(0, 30));
        break;
      case 1:
        client_.send(stream);
        break;
      case 2:
        client_.send(stream);
        (void)client_.read_head();
        break;
      default:
        client_.send(request("/cpu/get_power", token_));  // answered when nobody is there
    }
    const HttpClient gone = std::move(client_);
  }

  HttpClient client_;
  std::size_t number_;
  const std::string& token_;
};

TEST_F(DaemonCrowd, OfAHundredGetsWhatEachAskedFor) {
  constexpr std::size_t kClients = 100;
  constexpr std::size_t kThreads = 10;
  const int rounds = kSanitized ? 2 : 5;
  play(100.0);
  serve({"--signing-key-path", key_file(kCrowdKey), "--history", "60"},
        "gpu A\npower linear 0 100 1000 10100\ninstant window_ms 1 update_ms 20\n"
        "gpu B\npower linear 0 100 1000 10100\ninstant window_ms 1 update_ms 20\n");
  const std::string token =
      jwt(kHs256, R"({"sub":"crowd","scopes":["gpu-read","cpu-read"]})", kCrowdKey);
  (void)get("/gpu/get_power");  // what it opens for good is open then
  const std::size_t before = descriptors();
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        std::vector<Somebody> crowd;
        for (std::size_t number = thread; number < kClients; number += kThreads) {
          crowd.emplace_back(number % 2 == 0 ? client() : tcp_client(), number, token);
        }
        for (Somebody& each : crowd) each.begin();
        for (Somebody& each : crowd) each.end();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_TRUE(eventually([&] { return descriptors() <= before; }));
  EXPECT_EQ(get("/time").status, 200);
  end_well();
}

TEST_F(DaemonCrowd, ThatAsksTheSameGpuAtOnceIsAnsweredWhole) {
  serve({}, "gpu A\npower step 0 75\nlatency nvmlDeviceGetFieldValues 20\n");
  std::vector<HttpClient> clients;
  clients.reserve(200);
  for (int i = 0; i < 200; ++i) clients.push_back(i % 2 == 0 ? client() : tcp_client());
  for (int round = 0; round < 3; ++round) {
    for (const HttpClient& each : clients) each.send(request("/gpu/get_power"));
    for (HttpClient& each : clients) {
      const HttpAnswer answer = each.read_answer();
      EXPECT_EQ(answer.status, 200) << answer.body;
      EXPECT_THAT(answer.body, HasSubstr(R"("power_mw":{"0":75000})"));
    }
  }
}

TEST_F(DaemonCrowd, WithHalfARequestEachKeepsNobodyOut) {
  constexpr std::size_t kMost = 64;
  serve({"--max-connections", std::to_string(kMost)});
  (void)get("/gpu/get_power");
  const std::size_t before = descriptors();
  std::vector<HttpClient> slow;
  for (int i = 0; i < 500; ++i) {
    slow.push_back(i % 2 == 0 ? client() : tcp_client());
    slow.back().send("GET /time HTTP/1.1\r\nHost: ");
    if (i % 50 != 49) continue;
    EXPECT_EQ(get("/time").status, 200) << i;
    EXPECT_EQ(get_tcp("/gpu/get_power").status, 200) << i;
    EXPECT_LE(descriptors(), before + kMost) << i;
  }
  // Who came last is heard out.
  slow.back().send("localhost\r\n\r\n");
  EXPECT_EQ(slow.back().read_answer().status, 200);
}

TEST_F(DaemonCrowd, BeyondTheDescriptorsThereAreWaitsForItsTurn) {
  serve();
  std::vector<HttpClient> streams;
  for (int i = 0; i < 8; ++i) {
    streams.push_back(i % 2 == 0 ? client() : tcp_client());
    streams.back().send(request("/gpu/stream_power?gpu_ids=1"));
    EXPECT_THAT(streams.back().read_head(), HasSubstr("200 OK"));
  }
  // One that is open just now would be free later: who came in on it and has said nothing yet would
  // be put out for the next one.
  std::size_t most = descriptors();
  for (int look = 0; look < 50; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    most = std::min(most, descriptors());
  }
  const rlimit none_left{.rlim_cur = most, .rlim_max = most};
  ASSERT_EQ(::prlimit(daemon_->pid(), RLIMIT_NOFILE, &none_left, nullptr), 0);
  std::vector<HttpClient> late;
  for (int i = 0; i < 20; ++i) {
    late.push_back(i % 2 == 0 ? client() : tcp_client());
    late.back().send(request("/time"));
  }
  // Nobody who listens is put out for them, and the daemon does not burn a processor meanwhile.
  for (HttpClient& each : streams) {
    EXPECT_THAT(each.next_event(), StartsWith("data: "));
    EXPECT_EQ(each.next_chunk(), ": alive\n\n");
    EXPECT_EQ(each.next_chunk(), ": alive\n\n");
  }
  streams.clear();
  for (HttpClient& each : late) EXPECT_EQ(each.read_answer().status, 200) << log();
}

}  // namespace
}  // namespace wattle::integration
