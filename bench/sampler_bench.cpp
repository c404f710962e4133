// What a lane costs at 1 kHz over four counters, beside the least that such a loop can cost.
//
// usage: sampler_bench [rounds [seconds]]
//
// Three ways take turns, each for the same time: an empty loop that waits for absolute deadlines;
// the same loop with four bare preads; a lane that stamps, parses, unwraps, checks and stores. What
// counts is the processor time of the process. The file is a real sysfs attribute that holds a
// number, as in counter_read_bench.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/files/fd.hpp"
#include "base/text/parse.hpp"
#include "count_allocations.hpp"
#include "sampling/lane.hpp"
#include "sensors/powercap/counter_sensor.hpp"

namespace {

using std::chrono::nanoseconds;
using wattle::Seconds;

constexpr const char* kFile = "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size";
constexpr nanoseconds kPeriod = std::chrono::milliseconds(1);
constexpr int kPackages = 2;
constexpr int kCounters = 2 * kPackages;

Seconds processor_time() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) -> Seconds {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Package and DRAM of one socket.
std::shared_ptr<wattle::Sensor> make_sensor(std::uint32_t package) {
  std::vector<wattle::powercap::OpenCounter> counters;
  for (const auto domain : {wattle::Domain::package(package), wattle::Domain::dram(package)}) {
    counters.push_back({.channel = {.domain = domain,
                                    .counter = {.tick = wattle::Joules(1.0 / 16384.0),
                                                .modulus = std::uint64_t{1} << 32U,
                                                .max_power = wattle::Watts(2000.0)},
                                    .update = {.mean = std::chrono::milliseconds(1),
                                               .spread = std::chrono::microseconds(270),
                                               .p99 = std::chrono::microseconds(1650)}},
                        .energy_uj = wattle::open_for_reading(kFile),
                        .scale = wattle::powercap::identify_scale(262143328850)});
  }
  return std::make_shared<wattle::powercap::CounterSensor>(std::move(counters),
                                                           wattle::machine_clock());
}

/// Calls `tick` at absolute deadlines in a thread of its own while `body` runs.
void loop_while(const std::function<void()>& body, const std::function<void()>& tick) {
  std::atomic<bool> stop = false;
  std::thread thread([&] {
    timespec deadline{};
    ::clock_gettime(CLOCK_MONOTONIC, &deadline);
    constexpr long kSecond = 1'000'000'000;
    while (!stop.load(std::memory_order_relaxed)) {
      deadline.tv_nsec += kPeriod.count();
      if (deadline.tv_nsec >= kSecond) {
        deadline.tv_nsec -= kSecond;
        ++deadline.tv_sec;
      }
      ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr);
      tick();
    }
  });
  body();
  stop = true;
  thread.join();
}

struct Cost {
  std::vector<double> seconds;
  [[nodiscard]] double median() {
    std::ranges::sort(seconds);
    return seconds[seconds.size() / 2];
  }
};

}  // namespace

int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape): it may end so
  const auto argument = [&](int i, unsigned otherwise) {
    return argc > i ? wattle::parse_unsigned<unsigned>(argv[i]).value_or(otherwise) : otherwise;
  };
  const unsigned rounds = std::max(1U, argument(1, 9));
  const Seconds length(std::max(1U, argument(2, 2)));
  if (::access(kFile, R_OK) != 0) {
    fmt::print(stderr, "this kernel has no {}\n", kFile);
    return 1;
  }
  std::array<wattle::Fd, kCounters> files;
  for (wattle::Fd& file : files) file = wattle::open_for_reading(kFile);
  std::array<char, 32> text{};
  const auto read_bare = [&] {
    for (const wattle::Fd& file : files) {
      if (::pread(file.get(), text.data(), text.size(), 0) <= 0) std::abort();
    }
  };
  const auto measured = [&](Cost& cost, const auto& way) {
    Seconds used{0};
    way([&] {
      const Seconds before = processor_time();
      std::this_thread::sleep_for(length);
      used = processor_time() - before;
    });
    cost.seconds.push_back(used.count());
  };
  Cost empty;
  Cost bare;
  Cost lane;
  std::uint64_t ticks = 0;
  std::uint64_t missed = 0;
  std::uint64_t allocated = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    measured(empty, [&](const auto& body) { loop_while(body, [] {}); });
    measured(bare, [&](const auto& body) { loop_while(body, read_bare); });
    measured(lane, [&](const auto& body) {
      std::vector<wattle::LaneTask> tasks;
      for (unsigned package = 0; package < kPackages; ++package) {
        tasks.push_back({.recorder = std::make_unique<wattle::Recorder>(
                             make_sensor(package), wattle::ChannelSet(0b11),
                             wattle::HistoryOptions{.period = kPeriod})});
      }
      wattle::Lane running(std::move(tasks), {.period = kPeriod}, wattle::machine_clock());
      const std::uint64_t before = allocations();
      body();
      allocated += allocations() - before;
      ticks += running.ticks();
      missed += running.missed();
    });
  }
  const double loop_s = length.count() / Seconds(kPeriod).count();
  const auto print = [&](const char* what, Cost& cost) {
    fmt::print("{:<42} {:6.2f} us a tick  {:5.2f} times the preads\n", what,
               cost.median() / loop_s * 1e6, cost.median() / bare.median());
  };
  print("empty loop", empty);
  print("loop with 4 preads", bare);
  print("lane with 4 counters", lane);
  fmt::print("lane: {:.2f} times the empty loop; {} ticks, {} missed, {} allocations\n",
             lane.median() / empty.median(), ticks, missed, allocated);
}
