// A minute with a driver that does not come back for one GPU of eight.
#include <algorithm>
#include <cstdio>

#include "daemon.hpp"
#include "watched_gpus.hpp"

namespace wattle::integration {
namespace {

constexpr double kLooksPerSecond = 20.0;  // as without an option

/// How often it was looked at.
double rate(const std::vector<std::int64_t>& times_ms) {
  if (times_ms.size() < 2) return 0.0;
  const auto took_ms = static_cast<double>(times_ms.back() - times_ms.front());
  return 1000.0 * static_cast<double>(times_ms.size() - 1) / took_ms;
}

class DaemonHangSoak : public DaemonTest {};

TEST_F(DaemonHangSoak, OfAMinuteLeavesTheOthersTheirRate) {
  serve({}, eight_gpus("latency nvmlDeviceGetFieldValues 60000 from 3 until 3.1"));
  WatchedGpus gpus(client());
  while (!gpus.is_stuck) ASSERT_TRUE(gpus.take());
  const auto told_after_ms = gpus.times_ms[0].back() - gpus.times_ms.at(kFaultyGpu).back();
  EXPECT_LE(told_after_ms, 2000);
  gpus.forget();
  while (gpus.times_ms.at(kFaultyGpu).empty()) ASSERT_TRUE(gpus.take());
  double least = kLooksPerSecond;
  double most = 0.0;
  for (std::size_t gpu = 0; gpu < kWatchedGpus; ++gpu) {
    if (gpu == kFaultyGpu) continue;
    const double found = rate(gpus.times_ms.at(gpu));
    EXPECT_NEAR(found, kLooksPerSecond, 0.01 * kLooksPerSecond) << gpu;
    least = std::min(least, found);
    most = std::max(most, found);
  }
  std::printf("told after %lld ms; the others: %.2f to %.2f looks a second of %zu\n",
              static_cast<long long>(told_after_ms), least, most, gpus.times_ms[0].size());
}

}  // namespace
}  // namespace wattle::integration
