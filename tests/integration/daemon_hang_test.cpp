// Eight GPUs, and a driver that does not come back from a call for one of them.
#include <algorithm>

#include "daemon.hpp"
#include "watched_gpus.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;

class DaemonHang : public DaemonTest {};

TEST_F(DaemonHang, OfOneOfEightGpusTakesNothingFromTheOthers) {
  serve({}, eight_gpus("hang nvmlDeviceGetFieldValues from 1.5"));
  WatchedGpus gpus(client());
  while (!gpus.is_stuck) ASSERT_TRUE(gpus.take());
  // 20 looks a second: it is told within two of them.
  const std::int64_t last_ms = gpus.times_ms.at(kFaultyGpu).back();
  const auto since =
      std::ranges::count_if(gpus.times_ms[0], [&](std::int64_t at) { return at > last_ms; });
  EXPECT_GE(since, 1);
  EXPECT_LE(since, 40);

  constexpr std::size_t kEvents = 60;
  gpus.forget();
  while (gpus.times_ms[0].size() < kEvents) ASSERT_TRUE(gpus.take());
  for (std::size_t gpu = 0; gpu < kWatchedGpus; ++gpu) {
    const double expected = gpu == kFaultyGpu ? 0.0 : double{kEvents};
    EXPECT_NEAR(static_cast<double>(gpus.times_ms.at(gpu).size()), expected, 1.0) << gpu;
  }
}

TEST_F(DaemonHang, OfOneOfEightGpusIsAFaultOfThatOneAlone) {
  serve({}, eight_gpus("hang nvmlDeviceGetFieldValues from 1.5"));
  WatchedGpus gpus(client());
  while (!gpus.is_stuck) ASSERT_TRUE(gpus.take());
  EXPECT_EQ(get("/gpu/get_power?gpu_ids=0,1,2,4,5,6,7").status, 200);
  const HttpAnswer answer = get("/gpu/get_power");
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(keys_of(parse_json(answer.body)["errors"]), Words{"3"});
  const std::string metrics = get("/metrics").body;
  EXPECT_THAT(metrics, testing::ContainsRegex("wattle_sensor_up.domain=\"nvidia_gpu_2\".* 1\n"));
  EXPECT_THAT(metrics, testing::ContainsRegex("wattle_sensor_up.domain=\"nvidia_gpu_3\".* 0\n"));
}

TEST_F(DaemonHang, ThatEndsIsForgotten) {
  serve({}, eight_gpus("latency nvmlDeviceGetFieldValues 4000 from 1.5 until 1.6"));
  WatchedGpus gpus(client());
  while (!gpus.is_stuck) ASSERT_TRUE(gpus.take());
  gpus.forget();
  while (gpus.times_ms.at(kFaultyGpu).size() < 3) ASSERT_TRUE(gpus.take());
  EXPECT_EQ(get("/gpu/get_power").status, 200);
}

}  // namespace
}  // namespace wattle::integration
