// What a power monitor takes, in memory and in time, beside what one writes without thinking about
// it: pairs of doubles, and a linear scan in Python as Zeus's power monitor does.
//
//   power_monitor_bench [LINEAR_SCAN_SCRIPT]     default: bench/linear_scan.py
//
// Virtual time: readings are made up, at the times at which a lane would have read them.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fakes/virtual_clock.hpp"
#include "power/monitor_parts.hpp"
#include "power/power_domain.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr nanoseconds kUpdate = 100ms;

Channel power_channel(std::uint32_t gpu, PowerDomain domain, nanoseconds update = kUpdate) {
  const bool is_memory = domain == PowerDomain::memory_average;
  const Metric metric = is_memory                               ? Metric::power_memory
                        : domain == PowerDomain::device_instant ? Metric::power_instant
                                                                : Metric::power_average;
  return {.domain = Domain::nvidia_gpu(gpu),
          .update = {.mean = update, .spread = update / 100, .p99 = update * 103 / 100},
          .metric = metric,
          .scope = is_memory ? Scope::memory : Scope::device,
          .gauge = {.scale = 1e-3}};
}

/// The device's two domains and the memory's: no GPU shows power of its module beside these.
constexpr std::size_t kMeasuredDomains = 3;

/// A GPU of about 300 W with 3 W of noise, in mW; renewed every `update`. The mean over a second
/// has a third of the noise, the memory's power is 40 W with half a watt. Read a little late, as
/// threads wake up.
class NoisyGpu final : public Sensor {
 public:
  NoisyGpu(std::uint32_t index, std::size_t domains, nanoseconds update, const TimeSource& clock)
      : clock_(clock), update_(update), random_(index), raw_(domains) {
    for (std::size_t i = 0; i < domains; ++i) {
      channels_.push_back(power_channel(index, kPowerDomains.at(i), update));
    }
  }
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept override {
    const TimePoint now = clock_.now() + nanoseconds(std::llround(late_(random_) * 1e9));
    if (now.time_since_epoch() / update_ != updated_) {
      updated_ = now.time_since_epoch() / update_;
      for (std::size_t i = 0; i < raw_.size(); ++i) raw_[i] = draw(i);
    }
    for (std::size_t i = 0; i < raw_.size(); ++i) {
      readings[i] = {.at = now, .raw = raw_[i], .status = ReadStatus::ok};
    }
  }

 private:
  std::uint64_t draw(std::size_t domain) {
    constexpr std::array kMean = {300e3, 300e3, 40e3};
    constexpr std::array kSpread = {3e3, 1e3, 0.5e3};
    return static_cast<std::uint64_t>(
        std::llround(kMean.at(domain) + kSpread.at(domain) * noise_(random_)));
  }
  const TimeSource& clock_;
  nanoseconds update_;
  std::mt19937_64 random_;
  std::normal_distribution<double> noise_;
  std::exponential_distribution<double> late_{1.0 / 50e-6};
  std::vector<Channel> channels_;
  std::vector<std::uint64_t> raw_;
  std::int64_t updated_ = -1;
};

void memory(nanoseconds update) {
  constexpr std::uint32_t kGpus = 8;
  constexpr nanoseconds kPeriod = 50ms;
  fakes::VirtualClock clock;
  Survey found;
  for (std::uint32_t gpu = 0; gpu < kGpus; ++gpu) {
    found.sensors.push_back(std::make_unique<NoisyGpu>(gpu, kMeasuredDomains, update, clock));
  }
  PowerMonitor monitor =
      PowerMonitorMaker::make(std::move(found), clock, {.update_period = kPeriod}, ReadBy::caller);
  constexpr int kTicks = 3600 * 20;
  for (int tick = 0; tick < kTicks; ++tick, clock.advance(kPeriod)) {
    PowerMonitorMaker::read(monitor);
  }
  std::size_t samples = 0;
  for (const auto& [domain, timelines] : monitor.all_timelines()) {
    for (const auto& [gpu, timeline] : timelines) samples += timeline.size();
  }
  const auto bytes = static_cast<double>(monitor.memory_bytes());
  const auto readings = static_cast<double>(kTicks) * kGpus * kMeasuredDomains;
  constexpr double kMebibyte = 1024.0 * 1024.0;
  fmt::print(
      "1 h of 8 GPUs x 3 domains at 20 Hz, renewed every {} ms: {:.2f} MiB, {:.2f} bytes a "
      "sample\n",
      update / 1ms, bytes / kMebibyte, bytes / static_cast<double>(samples));
  constexpr double kPair = 2 * sizeof(double);
  fmt::print("  as (double, double): all {:.2f} MiB, equal neighbours once {:.2f} MiB\n",
             readings * kPair / kMebibyte, static_cast<double>(samples) * kPair / kMebibyte);
}

double microseconds(nanoseconds time) { return static_cast<double>(time.count()) / 1e3; }

double median(std::vector<double>& values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

/// Medians of `question(i)`: each asked twice, with cold caches and at once again.
template <class Question>
void ask(const char* what, Question question) {
  constexpr int kQuestions = 301;
  std::vector<char> elsewhere(std::size_t{64} << 20U);
  std::vector<double> cold;
  std::vector<double> warm;
  const auto timed = [&](int i) {
    const auto begin = std::chrono::steady_clock::now();
    question(i);
    return microseconds(std::chrono::steady_clock::now() - begin);
  };
  for (int i = 0; i < kQuestions; ++i) {
    for (std::size_t at = 0; at < elsewhere.size(); at += 64) ++elsewhere[at];
    cold.push_back(timed(i));
    std::vector<double> few;
    for (int k = 0; k < 9; ++k) {
      // Others in between, so that what is warm is the timeline and not the answer.
      question(i + kQuestions);
      question(i + 2 * kQuestions);
      few.push_back(timed(i));
    }
    warm.push_back(median(few));
  }
  fmt::print("  {:<28} warm {:6.2f} us   cold {:6.2f} us\n", what, median(warm), median(cold));
}

/// Of 10 million readings each millisecond, all different, while the next ones come.
void questions() {
  constexpr int kReadings = 10'000'000;
  constexpr nanoseconds kPeriod = 1ms;
  fakes::VirtualClock clock;
  Survey found;
  found.sensors.push_back(std::make_unique<NoisyGpu>(0, 1, kPeriod, clock));
  PowerMonitor monitor =
      PowerMonitorMaker::make(std::move(found), clock, {.update_period = kPeriod}, ReadBy::caller);
  const TimePoint begin = clock.at();
  for (int i = 0; i < kReadings; ++i, clock.advance(kPeriod)) PowerMonitorMaker::read(monitor);
  const nanoseconds length = clock.at() - begin;
  std::atomic<bool> done{false};
  std::thread sampler([&] {
    while (!done) {
      PowerMonitorMaker::read(monitor);
      clock.advance(kPeriod);
      std::this_thread::sleep_for(kPeriod);
    }
  });
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> part(0.0, 1.0);
  constexpr int kWindows = 1000;
  std::vector<std::pair<TimePoint, TimePoint>> windows;
  windows.reserve(kWindows);
  for (int i = 0; i < kWindows; ++i) {
    const auto at = [&] {
      return begin + std::chrono::duration_cast<nanoseconds>(part(random) * length);
    };
    windows.push_back(std::minmax({at(), at()}));
  }
  fmt::print("10 million readings, {:.1f} MiB, while more are made:\n",
             static_cast<double>(monitor.memory_bytes()) / 1048576.0);
  const auto window = [&](int i) { return windows[static_cast<std::size_t>(i) % windows.size()]; };
  double sum = 0.0;
  ask("energy(start, end)",
      [&](int i) { sum += monitor.energy(window(i).first, window(i).second).at(0).energy->si(); });
  ask("power_at(t)", [&](int i) { sum += monitor.power_at(window(i).first).at(0)->power.si(); });
  ask("power_at(t, nearest)",
      [&](int i) { sum += monitor.power_at(window(i).first, Lookup::nearest).at(0)->power.si(); });
  done = true;
  sampler.join();
  if (sum <= 0.0) std::abort();
}

/// Hangs in its second reading, until it is told not to.
class HangingGpu final : public Sensor {
 public:
  struct Gate {
    std::mutex mutex;
    std::condition_variable opened;
    bool open = false;
  };
  HangingGpu(std::uint32_t index, std::shared_ptr<Gate> gate)
      : channels_{power_channel(index, PowerDomain::device_instant)}, gate_(std::move(gate)) {}
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept override {
    if (reads_++ > 0) {
      std::unique_lock lock(gate_->mutex);
      gate_->opened.wait(lock, [&] { return gate_->open; });
    }
    readings[0] = {.at = machine_clock().now(), .raw = 1, .status = ReadStatus::ok};
  }

 private:
  std::vector<Channel> channels_;
  std::shared_ptr<Gate> gate_;
  int reads_ = 0;
};

void stopping() {
  std::vector<double> times;
  for (int run = 0; run < 9; ++run) {
    const auto gate = std::make_shared<HangingGpu::Gate>();
    Survey found;
    for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
      found.sensors.push_back(std::make_unique<HangingGpu>(gpu, gate));
    }
    const auto begin = [&] {
      PowerMonitor monitor =
          PowerMonitorMaker::make(std::move(found), machine_clock(), {.update_period = 50ms});
      std::this_thread::sleep_for(60ms);
      return std::chrono::steady_clock::now();
    }();  // the monitor ends behind its last time
    times.push_back(microseconds(std::chrono::steady_clock::now() - begin) / 1e3);
    const std::scoped_lock lock(gate->mutex);
    gate->open = true;
    gate->opened.notify_all();
  }
  const double most = std::ranges::max(times);
  fmt::print("the end of a monitor of 8 GPUs, all of them hanging: {:.1f} ms, at most {:.1f} ms\n",
             median(times), most);
}

}  // namespace
}  // namespace wattle

// NOLINTNEXTLINE(bugprone-exception-escape): then it has failed, and says so
int main(int argc, char** argv) {
  wattle::memory(wattle::kUpdate);
  wattle::memory(std::chrono::milliseconds(50));
  wattle::questions();
  std::fflush(stdout);
  const std::string script = argc > 1 ? argv[1] : "bench/linear_scan.py";
  // NOLINTNEXTLINE(concurrency-mt-unsafe, cert-env33-c): the peer
  if (std::system(("python3 " + script).c_str()) != 0) return 1;
  wattle::stopping();
}
