// Ten thousand clients that each send half a request, and nothing more.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "daemon.hpp"

namespace wattle::integration {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kSlow = 10'000;
constexpr std::size_t kMostConnections = 4096;  // as without an option

class DaemonSlowHeads : public DaemonTest {
 protected:
  DaemonSlowHeads() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    can_hold_all_ = limit.rlim_cur > kSlow + 500;
  }
  [[nodiscard]] std::size_t descriptors() const {
    const std::filesystem::directory_iterator all("/proc/" + std::to_string(daemon_->pid()) +
                                                  "/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  /// From the first packet of a new client to its answer.
  [[nodiscard]] double ms_until_served(bool by_tcp) const {
    const auto begin = SteadyClock::now();
    EXPECT_EQ((by_tcp ? get_tcp("/time") : get("/time")).status, 200);
    return std::chrono::duration<double, std::milli>(SteadyClock::now() - begin).count();
  }
  bool can_hold_all_ = false;
};

TEST_F(DaemonSlowHeads, KeepNobodyWaitingForATenthOfASecond) {
  if (!can_hold_all_) GTEST_SKIP() << "needs 10,500 open files: see ulimit -n";
  serve();
  (void)get("/gpu/get_power");
  const std::size_t before = descriptors();
  std::vector<HttpClient> slow;
  std::vector<double> waits_ms;
  std::size_t most = 0;
  for (int i = 0; i < kSlow; ++i) {
    slow.push_back(i % 2 == 0 ? client() : tcp_client());
    slow.back().send("GET /time HTTP/1.1\r\nHost: ");
    if (i % 50 != 0) continue;
    waits_ms.push_back(ms_until_served(i % 100 == 0));
    most = std::max(most, descriptors());
  }
  // While they are all there and their time runs out, too.
  for (int i = 0; i < 100; ++i) {
    waits_ms.push_back(ms_until_served(i % 2 == 0));
    ::usleep(100'000);
  }
  std::ranges::sort(waits_ms);
  EXPECT_LT(waits_ms.back(), 100.0);
  EXPECT_LE(most, before + kMostConnections);
  std::printf("%zu new clients served, median %.1f ms, at most %.1f ms; %zu descriptors at most\n",
              waits_ms.size(), waits_ms[waits_ms.size() / 2], waits_ms.back(), most);
}

}  // namespace
}  // namespace wattle::integration
