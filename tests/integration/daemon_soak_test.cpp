// Ten minutes with a thousand readers that read nothing.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <vector>

#include "daemon.hpp"

namespace wattle::integration {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::seconds;

constexpr seconds kLength = std::chrono::minutes(10);
constexpr int kDeaf = 1000;
constexpr int kGood = 10;

std::int64_t unix_now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

long resident_kib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::string word;
  while (status >> word) {
    long kib = 0;
    if (word == "VmRSS:" && status >> kib) return kib;
  }
  return 0;
}

/// Takes what is told, and when.
class Good {
 public:
  explicit Good(const HttpClient& client) : fd_(client.fd()) {}

  void take() {
    std::array<char, 65536> room{};
    const ssize_t count = ::recv(fd_, room.data(), room.size(), MSG_DONTWAIT);
    ASSERT_GT(count, 0) << "a good reader was cut off";
    in_.append(room.data(), static_cast<std::size_t>(count));
    constexpr std::string_view kName = "\"timestamp_ms\":";
    std::size_t end = 0;
    while ((end = in_.find("\n\n")) != std::string::npos) {
      const std::size_t at = in_.find(kName);
      if (at < end) {
        const std::int64_t time = std::stoll(in_.substr(at + kName.size(), 16));
        times.push_back(time);
        delays_ms.push_back(unix_now_ms() - time);
      }
      in_.erase(0, end + 2);
    }
  }
  [[nodiscard]] int fd() const noexcept { return fd_; }
  std::vector<std::int64_t> times;
  std::vector<std::int64_t> delays_ms;

 private:
  int fd_;
  std::string in_;
};

class DaemonSoak : public DaemonTest {
 protected:
  struct Deaf {
    HttpClient client;
    SteadyClock::time_point since;
  };
  [[nodiscard]] Deaf deaf() const {
    Deaf deaf{.client = client(), .since = SteadyClock::now()};
    deaf.client.send("GET /cpu/stream_power HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return deaf;
  }
  /// Those that were cut off come back; how long each lasted.
  void replace_cut(std::vector<Deaf>& all, std::vector<double>& lasted_s) const {
    std::vector<pollfd> waits;
    for (const Deaf& each : all)
      waits.push_back({.fd = each.client.fd(), .events = 0, .revents = 0});
    ::poll(waits.data(), waits.size(), 0);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((waits[i].revents & POLLHUP) == 0) continue;
      lasted_s.push_back(std::chrono::duration<double>(SteadyClock::now() - all[i].since).count());
      all[i] = deaf();
    }
  }
};

TEST_F(DaemonSoak, AThousandDeafReadersTakeNothingFromTenGoodOnes) {
  play(100.0);
  serve({"--cpu-power-poll-hz", "20"});
  std::vector<HttpClient> clients;
  std::vector<Good> good;
  for (int i = 0; i < kGood; ++i) {
    clients.push_back(client());
    clients.back().send("GET /cpu/stream_power?cpu_ids=0 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    good.emplace_back(clients.back());
  }
  const long before_kib = resident_kib(daemon_->pid());
  std::vector<Deaf> all;
  for (int i = 0; i < kDeaf; ++i) all.push_back(deaf());

  std::vector<double> lasted_s;
  long most_kib = 0;
  const auto end = SteadyClock::now() + kLength;
  auto look = SteadyClock::now();
  while (SteadyClock::now() < end) {
    std::vector<pollfd> waits;
    for (const Good& each : good)
      waits.push_back({.fd = each.fd(), .events = POLLIN, .revents = 0});
    ASSERT_GT(::poll(waits.data(), waits.size(), 5000), 0);
    for (std::size_t i = 0; i < good.size(); ++i) {
      if (waits[i].revents == 0) continue;
      ASSERT_NO_FATAL_FAILURE(good[i].take());
    }
    if (SteadyClock::now() < look) continue;
    look += seconds(1);
    replace_cut(all, lasted_s);
    most_kib = std::max(most_kib, resident_kib(daemon_->pid()));
  }

  std::int64_t first = 0;
  std::int64_t last = unix_now_ms();
  std::vector<std::int64_t> delays_ms;
  for (const Good& each : good) {
    first = std::max(first, each.times.front());
    last = std::min(last, each.times.back());
    delays_ms.insert(delays_ms.end(), each.delays_ms.begin(), each.delays_ms.end());
  }
  for (Good& each : good) {
    std::erase_if(each.times, [&](std::int64_t time) { return time < first || time > last; });
    EXPECT_EQ(each.times, good.front().times);
  }
  std::ranges::sort(delays_ms);
  const std::int64_t p99_ms = delays_ms[delays_ms.size() * 99 / 100];
  EXPECT_LT(p99_ms, 50);
  EXPECT_LT(most_kib - before_kib, 5 * 1024);
  // What the kernel holds for a reader fills first; 30 s later it is cut.
  ASSERT_FALSE(lasted_s.empty());
  EXPECT_GE(std::ranges::min(lasted_s), 30.0);
  EXPECT_LE(std::ranges::max(lasted_s), 60.0);
  std::printf("%zu events each, p99 delay %lld ms, RSS +%ld KiB, %zu cut after %.0f to %.0f s\n",
              good.front().times.size(), static_cast<long long>(p99_ms), most_kib - before_kib,
              lasted_s.size(), std::ranges::min(lasted_s), std::ranges::max(lasted_s));
}

}  // namespace
}  // namespace wattle::integration
