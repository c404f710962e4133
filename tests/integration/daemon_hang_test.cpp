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

TEST_F(DaemonHang, IsInTheLogOnceAndTheSharesOfOthersGoOn) {
  serve({"--enable", "gpu-read,shares", "--shares-interval", "1"},
        eight_gpus("hang nvmlDeviceGetFieldValues from 1.5"));
  constexpr const char* kLine = "GPU 3 (A): its driver does not answer";
  EXPECT_TRUE(eventually([&] { return log().find(kLine) != std::string::npos; }));
  const auto divided_at = [&] {
    const Json at = parse_json(get("/api/v1/shares").body)["divided_unix_s"];
    return at.is_number() ? at.get<double>() : 0.0;
  };
  // Two intervals in which it hung, each of which waited for it.
  for (int interval = 0; interval < 2; ++interval) {
    const double before = divided_at();
    EXPECT_TRUE(eventually([&] { return divided_at() > before; }));
  }
  const std::string all = log();
  const std::size_t first = all.find(kLine);
  EXPECT_EQ(all.find(kLine, first + 1), std::string::npos) << all;
  for (const char* other : {"GPU 2", "GPU 4"}) {
    EXPECT_EQ(all.find(std::string(other) + " (A): its driver"), std::string::npos) << all;
  }
}

TEST_F(DaemonHang, ThatEndsIsInTheLog) {
  serve({}, eight_gpus("latency nvmlDeviceGetFieldValues 6000 from 1.5 until 1.6"));
  WatchedGpus gpus(client());
  while (!gpus.is_stuck) ASSERT_TRUE(gpus.take());
  EXPECT_TRUE(logs(HasSubstr("GPU 3 (A): its driver does not answer")));
  EXPECT_TRUE(
      eventually([&] { return log().find("GPU 3 (A) answers again") != std::string::npos; }));
}

}  // namespace
}  // namespace wattle::integration
