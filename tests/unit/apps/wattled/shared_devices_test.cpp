// With a past, streams and questions, a GPU is read by one thread, no more often than the fastest
// of them asks.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "fakes/virtual_clock.hpp"
#include "http/event_loop.hpp"
#include "sampling/device_questions.hpp"
#include "serve/service.hpp"

namespace wattle::daemon {
namespace {

using namespace std::chrono_literals;

/// What a driver was asked. Threads: any.
struct Calls {
  std::atomic<int> power{0};
  std::mutex mutex;
  std::set<std::thread::id> threads;
};

class CountingGpu final : public Sensor {
 public:
  CountingGpu(std::shared_ptr<Calls> calls, const TimeSource& clock)
      : calls_(std::move(calls)), clock_(clock) {}
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept override {
    if (wanted[0]) ++calls_->power;
    readings[0] = {.at = clock_.now(), .raw = 100'000, .status = ReadStatus::ok};
    const std::scoped_lock lock(calls_->mutex);
    calls_->threads.insert(std::this_thread::get_id());
  }
  [[nodiscard]] const DeviceInfo* device() const noexcept override { return &info_; }
  [[nodiscard]] bool may_block() const noexcept override { return true; }

 private:
  std::shared_ptr<Calls> calls_;
  const TimeSource& clock_;
  DeviceInfo info_;
  std::vector<Channel> channels_{
      {.domain = Domain::nvidia_gpu(0), .metric = Metric::power_instant}};
};

TEST(NewestReadings, AreReadAsOftenAsTheFastestReaderAsksWhateverTheirPhases) {
  for (int phase_ms = 0; phase_ms < 100; ++phase_ms) {
    fakes::VirtualClock clock;
    const auto calls = std::make_shared<Calls>();
    NewestReadings device(std::make_shared<CountingGpu>(calls, clock), clock);
    std::vector<Reading> readings(1);
    for (int ms = 0; ms < 10'000; ++ms) {
      if (ms % 50 == 0) device.read({1}, 25ms, readings);
      if (ms % 100 == phase_ms) device.read({1}, 50ms, readings);
      clock.advance(1ms);
    }
    EXPECT_LE(calls->power, 10'000 / 50 + 1) << phase_ms;
    EXPECT_GE(calls->power, 10'000 / 50 - 1) << phase_ms;
  }
}

TEST(NewestReadings, AreAskedOfTheDeviceForASingleQuestion) {
  fakes::VirtualClock clock;
  const auto calls = std::make_shared<Calls>();
  NewestReadings device(std::make_shared<CountingGpu>(calls, clock), clock);
  std::vector<Reading> readings(1);
  for (int i = 0; i < 3; ++i) device.read({1}, 0ms, readings);
  EXPECT_EQ(calls->power, 3);
  device.read({1}, 25ms, readings);
  EXPECT_EQ(calls->power, 3) << "just read";
  clock.advance(26ms);
  device.read({1}, 25ms, readings);
  EXPECT_EQ(calls->power, 4);
}

TEST(SharedDevices, AreReadByOneThreadWhoeverAsks) {
  constexpr auto kStreamed = 50ms;
  const auto calls = std::make_shared<Calls>();
  Inventory inventory;
  inventory.gpus.push_back(
      {.entry = {.id = 0}, .sensor = std::make_shared<CountingGpu>(calls, machine_clock())});
  EventLoop loop;
  auto history =
      start_energy_history(inventory, {TokenScope::gpu_read},
                           {.kept = 60s, .gpu_period = kStreamed}, loop, machine_clock());
  Gpus gpus(std::move(inventory.gpus), loop);
  int streamed = 0;
  int questions = 0;
  const TimePoint begin = loop.now();
  Pace stream(loop, kStreamed, [&] {
    gpus.ask_one(0, GpuQuestion::streamed_power, [&](const DeviceAnswer& answer) {
      EXPECT_FALSE(fault_of(answer, gpus.sensor(0), GpuQuestion::streamed_power));
      ++streamed;
    });
    if (streamed % 8 == 0) {
      ++questions;
      gpus.ask({0}, GpuQuestion::power, [](const Gpus::Answers&) {});
    }
    if (streamed % 8 == 4) {  // as for /metrics
      ++questions;
      gpus.ask({0}, GpuQuestion::all, [](const Gpus::Answers&) {});
    }
    if (streamed >= 30) loop.stop();
  });
  stream.start();
  loop.run();
  const auto periods = static_cast<int>((loop.now() - begin) / kStreamed);
  // A loaded machine shifts a reading now and then; the past alone would add every second one.
  EXPECT_LE(calls->power, periods + questions + 2 + periods / 10);
  EXPECT_GT(history->energies(begin, loop.now()).at(0).figure.known, Seconds(0.5));
  EXPECT_EQ(calls->threads.size(), 1U);
}

}  // namespace
}  // namespace wattle::daemon
