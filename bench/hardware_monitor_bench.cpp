// What a row of the hardware monitor costs on a machine of 8 GPUs and 128 processors, beside the
// bare reads of the same things.
//
// usage: hardware_monitor_bench [rounds [ticks]]
//
// The two take turns, each for the same number of ticks. What counts is the processor time of the
// process, of all its threads. The processors are a copy of /proc as such a machine shows it; it
// lies on the disk, where the kernel need not make it up: a real one takes longer to read, which
// would flatter the monitor. The GPUs are made up: their "driver" burns as much processor time as
// is known of a real one, 170 us for the power by nvmlDeviceGetFieldValues, or 6 us as by
// nvmlDeviceGetPowerUsage, and 6 us for each of five other calls; then none at all.
// Virtual time: a row each 2 s.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/files/fd.hpp"
#include "base/text/parse.hpp"
#include "fakes/virtual_clock.hpp"
#include "run_monitor/recording.hpp"

namespace wattle {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr std::uint32_t kGpus = 8;
constexpr int kProcessors = 128;

nanoseconds time_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

void burn(nanoseconds time) {
  if (time <= nanoseconds(0)) return;
  const nanoseconds end = time_of(CLOCK_THREAD_CPUTIME_ID) + time;
  while (time_of(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}

/// What a call takes.
struct Driver {
  microseconds power;
  microseconds other;
  [[nodiscard]] microseconds all() const { return power + 5 * other; }
};

/// A GPU with all that a row holds.
class MadeUpGpu final : public Sensor {
 public:
  MadeUpGpu(std::uint32_t index, const Driver& driver, const TimeSource& clock)
      : driver_(driver), clock_(clock) {
    for (const Metric metric :
         {Metric::power_average, Metric::utilization, Metric::memory_utilization,
          Metric::memory_used, Metric::memory_total, Metric::temperature, Metric::clock_sm,
          Metric::clock_memory}) {
      channels_.push_back({.domain = Domain::nvidia_gpu(index),
                           .metric = metric,
                           .gauge = {.scale = metric == Metric::power_average ? 1e-3 : 1.0}});
    }
    info_.id = fmt::format("GPU-00000000-0000-0000-0000-{:012}", index);
  }
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  [[nodiscard]] const DeviceInfo* device() const noexcept override { return &info_; }
  [[nodiscard]] bool may_block() const noexcept override { return true; }
  void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept override {
    ++number_;
    if (wanted[0]) burn(driver_.power);
    // Utilizations, memory, temperature and two clocks: five calls.
    if (wanted[1]) burn(5 * driver_.other);
    const TimePoint now = clock_.now();
    for (std::size_t i = 0; i < readings.size(); ++i) {
      if (wanted[i]) readings[i] = {.at = now, .raw = number_ % 97, .status = ReadStatus::ok};
    }
  }

 private:
  Driver driver_;
  const TimeSource& clock_;
  std::uint64_t number_ = 0;
  std::vector<Channel> channels_;
  DeviceInfo info_;
};

std::vector<std::unique_ptr<Sensor>> gpus(const Driver& driver, const TimeSource& clock) {
  std::vector<std::unique_ptr<Sensor>> sensors;
  for (std::uint32_t i = 0; i < kGpus; ++i) {
    sensors.push_back(std::make_unique<MadeUpGpu>(i, driver, clock));
  }
  return sensors;
}

constexpr std::array kFiles = {"stat",        "meminfo",   "pressure/cpu", "pressure/memory",
                               "pressure/io", "diskstats", "net/dev"};

/// A /proc of many processors; what does not depend on their number is this machine's own.
void make_proc(const std::filesystem::path& folder) {
  for (const char* name : kFiles) {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ifstream in(std::filesystem::path("/proc") / name);
    std::ofstream(folder / name) << in.rdbuf();
  }
  std::ofstream stat(folder / "stat");
  stat << "cpu  1234567890 12345 123456789 12345678901 123456 0 1234567 0 0 0\n";
  for (int i = 0; i < kProcessors; ++i) {
    stat << "cpu" << i << " 9645061 96 964506 96450616 964 0 9645 0 0 0\n";
  }
  stat << "intr 123456789012";
  for (int i = 0; i < 2000; ++i) stat << ' ' << (i % 7 == 0 ? 1234567 : 0);
  stat << "\nctxt 123456789\nbtime 1763690000\nprocesses 1234567\n";
}

/// Processor time of one tick, in microseconds.
double cost_us(int ticks, const std::function<void()>& tick) {
  const nanoseconds begin = time_of(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < ticks; ++i) tick();
  const nanoseconds used = time_of(CLOCK_PROCESS_CPUTIME_ID) - begin;
  return static_cast<double>(used.count()) / 1e3 / ticks;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void compare(const std::filesystem::path& folder, const Driver& driver, int rounds, int ticks) {
  constexpr std::chrono::seconds kInterval(2);
  fakes::VirtualClock clock;
  System system;
  system.procfs = folder / "proc";
  Recording recording({.sensors = gpus(driver, clock), .refused = {}}, clock, folder / "out",
                      {.interval = kInterval, .system = system});
  recording.begin();

  std::vector<std::unique_ptr<Sensor>> sensors = gpus(driver, clock);
  std::vector<Fd> files;
  files.reserve(kFiles.size());
  for (const char* name : kFiles) {
    files.push_back(open_for_reading((system.procfs / name).string()));
  }
  std::array<Reading, 8> readings;
  std::vector<char> text(std::size_t{64} << 10U);
  const auto bare = [&] {
    for (const auto& sensor : sensors) sensor->read(readings);
    for (const Fd& file : files) {
      if (read_at_start(file.get(), text) <= 0) std::abort();
    }
  };
  const auto row = [&] {
    clock.advance(kInterval);
    recording.tick(false);
  };

  std::vector<double> bare_us;
  std::vector<double> row_us;
  for (int round = 0; round < rounds; ++round) {
    bare_us.push_back(cost_us(ticks, bare));
    row_us.push_back(cost_us(ticks, row));
  }
  fmt::print(
      "a driver that takes {} us a GPU: bare reads {:.0f} us, a row of each file {:.0f} us, "
      "{:.2f}x\n",
      driver.all().count(), median(bare_us), median(row_us), median(row_us) / median(bare_us));
}

}  // namespace
}  // namespace wattle

int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape): it may end so
  const auto argument = [&](int i, unsigned otherwise) {
    return argc > i ? wattle::parse_unsigned<unsigned>(argv[i]).value_or(otherwise) : otherwise;
  };
  const int rounds = static_cast<int>(std::max(1U, argument(1, 9)));
  const int ticks = static_cast<int>(std::max(1U, argument(2, 200)));
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("hardware-monitor-bench-{}", ::getpid());
  std::filesystem::create_directories(folder);
  wattle::make_proc(folder / "proc");
  using std::chrono::microseconds;
  for (const wattle::Driver& driver : {wattle::Driver{microseconds(170), microseconds(6)},
                                       wattle::Driver{microseconds(6), microseconds(6)},
                                       wattle::Driver{microseconds(0), microseconds(0)}}) {
    wattle::compare(folder, driver, rounds, ticks);
  }

  std::filesystem::remove_all(folder);
}
