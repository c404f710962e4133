// Monitors with their own threads: what is asserted are counts and orders, never how long something
// took. Numbers in brackets are the weaknesses of the original that a test shows the absence of.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <thread>

#include "fakes/gated_sensor.hpp"
#include "fakes/nvml/control.hpp"
#include "heard_log.hpp"
#include "played_machine.hpp"
#include "sanitized.hpp"
#include "wattle/error.hpp"
#include "wattle/power_monitor.hpp"

namespace {

constexpr int kAnyNumber = -1;

/// How many more threads the system starts.
std::atomic<int> threads_left{kAnyNumber};

}  // namespace

#if !WATTLE_SANITIZED
/// Replaces the system's function, so that a test decides how many threads there may be: what fits
/// into a limit of memory differs from one machine to the next.
extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* thread,
                                                             const pthread_attr_t* attributes,
                                                             void* (*work)(void*),
                                                             void* argument) noexcept {
  if (threads_left == 0) return EAGAIN;
  if (threads_left > 0) --threads_left;
  using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what dlsym gives
  static const auto create = reinterpret_cast<Create*>(::dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, work, argument);
}
#endif

namespace wattle::power_test {
namespace {

using fakes::eventually;
using fakes::FakeNvml;
using fakes::Gate;
using fakes::GatedSensor;
using testing::HasSubstr;

/// Quick enough for a test, and no reason for a warning.
constexpr std::chrono::nanoseconds kPeriod = 50ms;

/// A sanitizer begins one of its own with the first thread that there is: that one is counted too.
std::ptrdiff_t threads() {
  std::thread([] {}).join();
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

/// Its power is the number of the reading, in mW.
std::unique_ptr<Sensor> gated_gpu(std::uint32_t index, const std::shared_ptr<Gate>& gate) {
  return std::make_unique<GatedSensor>(std::vector{power_channel(index, kInstant)}, gate,
                                       machine_clock());
}

/// `count` GPUs behind gates.
struct GatedGpus {
  std::vector<std::shared_ptr<Gate>> gates;
  Survey found;

  explicit GatedGpus(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      gates.push_back(std::make_shared<Gate>());
      found.sensors.push_back(gated_gpu(i, gates.back()));
    }
  }
  GatedGpus(const GatedGpus&) = delete;
  GatedGpus& operator=(const GatedGpus&) = delete;
  ~GatedGpus() {
    for (const auto& gate : gates) gate->open();
  }
  PowerMonitor monitor(std::chrono::nanoseconds period = kPeriod) {
    return PowerMonitorMaker::make(std::move(found), machine_clock(), {.update_period = period});
  }
};

TEST(PowerMonitorThreads, HaveReadEverythingWhenTheConstructorReturns) {
  GatedGpus gpus(4);
  const PowerMonitor monitor = gpus.monitor();
  for (const auto& [gpu, sample] : monitor.power()) EXPECT_TRUE(sample) << gpu;
}

/// A package of 50 W by the machine's clock.
Survey real_package() {
  std::vector<fakes::ScriptedCounter> counters;
  counters.push_back(fakes::constant_power(fakes::counter_channel(Domain::package(0)), Watts(50.0),
                                           machine_clock().now()));
  Survey found;
  found.sensors.push_back(
      std::make_unique<fakes::ScriptedSensor>(std::move(counters), machine_clock()));
  return found;
}

TEST(PowerMonitorThreads, KnowTheEnergyOfACpuUntilNow) {
  const PowerMonitor monitor =
      PowerMonitorMaker::make(real_package(), machine_clock(), {.update_period = 1min});
  const TimePoint begin = machine_clock().now();
  std::this_thread::sleep_for(20ms);
  const MeasuredEnergy energy =
      monitor.cpu_energy(begin, machine_clock().now()).at(Domain::package(0));
  EXPECT_EQ(energy.unknown, Seconds(0));
  EXPECT_FALSE(energy.flags.has(Flag::gap));
}

TEST(PowerMonitorThreads, KnowTheEnergyOfAGpuUntilNow) {
  GatedGpus gpus(1);
  const PowerMonitor monitor = gpus.monitor(1min);
  const auto before = gpus.gates[0]->reads.load();
  std::this_thread::sleep_for(20ms);
  (void)monitor.energy(machine_clock().now() - 15ms, machine_clock().now());
  EXPECT_GT(gpus.gates[0]->reads, before);
}

TEST(PowerMonitorThreads, KnowTheEnergyOfTheMemoryAloneUntilNow) {
  const auto gate = std::make_shared<Gate>();
  Survey found;
  found.sensors.push_back(std::make_unique<GatedSensor>(
      std::vector{power_channel(0, PowerDomain::memory_average)}, gate, machine_clock()));
  const PowerMonitor monitor =
      PowerMonitorMaker::make(std::move(found), machine_clock(), {.update_period = 1min});
  const auto before = gate->reads.load();
  std::this_thread::sleep_for(20ms);
  (void)monitor.energy(machine_clock().now() - 15ms, machine_clock().now(),
                       PowerDomain::memory_average);
  EXPECT_GT(gate->reads, before);
}

TEST(PowerMonitorThreads, ReadEveryDeviceNowWhereAsked) {
  GatedGpus gpus(2);
  PowerMonitor monitor = gpus.monitor(1min);
  const auto before = gpus.gates[1]->reads.load();
  EXPECT_TRUE(monitor.read_now(10s));
  EXPECT_GT(gpus.gates[1]->reads, before);
  gpus.gates[0]->shut();
  EXPECT_FALSE(monitor.read_now(1ms)) << "one does not answer";
  gpus.gates[0]->open();
  monitor.stop();
  EXPECT_FALSE(monitor.read_now());
}

TEST(PowerMonitorThreads, ReadAtThePeriod) {
  GatedGpus gpus(1);
  const PowerMonitor monitor = gpus.monitor(1ms);
  EXPECT_EQ(monitor.update_period(), 1ms);
  EXPECT_TRUE(eventually([&] { return gpus.gates[0]->reads >= 100; }));
}

TEST(PowerMonitorThreads, KeepTheRateOfSevenGpusWhileTheEighthHangs) {
  GatedGpus gpus(8);
  gpus.gates[3]->shut();
  PowerMonitor monitor = gpus.monitor(1ms);
  ASSERT_TRUE(eventually([&] { return gpus.gates[3]->waiting.load(); }));
  for (std::uint32_t i = 0; i < 8; ++i) {
    if (i == 3) continue;
    EXPECT_TRUE(eventually([&] { return gpus.gates[i]->reads >= 200; })) << i;
  }
  EXPECT_EQ(gpus.gates[3]->reads, 0);
  EXPECT_EQ(monitor.power().at(3), std::nullopt);
  EXPECT_TRUE(monitor.power().at(4));
}

// The period is long beside what a busy machine may take to start eight threads.
TEST(PowerMonitorThreads, BeginToReadASensorFromNoCertainSide) {
  constexpr std::uint32_t kCount = 8;
  constexpr std::chrono::nanoseconds kLongPeriod = 2s;
  GatedGpus gpus(kCount);
  const PowerMonitor monitor = gpus.monitor(kLongPeriod);
  ASSERT_TRUE(eventually([&] {
    const auto& timelines = monitor.timeline(kInstant);
    return std::ranges::all_of(timelines, [](const auto& gpu) { return gpu.second.size() >= 2; });
  }));
  TimePoint::duration least = kLongPeriod;
  TimePoint::duration most = 0ns;
  for (const auto& [gpu, samples] : monitor.timeline(kInstant)) {
    least = std::min(least, samples[1].timestamp - samples[0].timestamp);
    most = std::max(most, samples[1].timestamp - samples[0].timestamp);
  }
  // That eight random phases lie so close together happens once in a million runs.
  EXPECT_GT(most - least, kLongPeriod / 10);
}

// [12]: an end that waits for a stuck device.
TEST(PowerMonitorThreads, EndWithoutTheOneThatHangs) {
  GatedGpus gpus(2);
  PowerMonitor monitor = gpus.monitor();
  gpus.gates[0]->shut();
  ASSERT_TRUE(eventually([&] { return gpus.gates[0]->waiting.load(); }));
  monitor.stop();
  EXPECT_TRUE(gpus.gates[0]->waiting);
  const int reads = gpus.gates[1]->reads;
  monitor.stop();
  std::this_thread::sleep_for(2 * kPeriod);
  EXPECT_EQ(gpus.gates[1]->reads, reads);
  EXPECT_TRUE(monitor.power().at(1));
}

TEST(PowerMonitorThreads, ReadOnceMoreAtTheEnd) {
  GatedGpus gpus(1);
  PowerMonitor monitor = gpus.monitor(1h);
  const int reads = gpus.gates[0]->reads;
  monitor.stop();
  EXPECT_EQ(gpus.gates[0]->reads, reads + 1);
}

TEST(PowerMonitorThreads, AreGoneWithTheMonitor) {
  const std::ptrdiff_t before = threads();
  {
    GatedGpus gpus(3);
    const PowerMonitor monitor = gpus.monitor();
    EXPECT_GT(threads(), before);
  }
  EXPECT_TRUE(eventually([&] { return threads() <= before; }));
}

TEST(PowerMonitorThreads, AreGoneWhereTheConstructorFails) {
  const FakeNvml fake("gpu A\npower step 0 100\ngpu B\npower step 0 100\n");
  const std::ptrdiff_t before = threads();
  EXPECT_THROW(PowerMonitor({.gpus = {0, 5}, .system = fake.system()}), NoSuchDevice);
  EXPECT_TRUE(eventually([&] { return threads() <= before; }));
}

/// In a process of its own: the system starts half of the threads, and no more.
void start_with_room_for_few_threads() {
  const std::ptrdiff_t before = threads();
  GatedGpus gpus(16);
  threads_left = 8;
  try {
    const PowerMonitor monitor = gpus.monitor();
    std::_Exit(2);
  } catch (const Error&) {
    threads_left = kAnyNumber;
    std::_Exit(eventually([&] { return threads() <= before; }) ? 0 : 3);
  }
}

TEST(PowerMonitorThreads, AreGoneWhereNotAllOfThemCouldBeStarted) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer starts threads in a way of its own";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(start_with_room_for_few_threads(), testing::ExitedWithCode(0), "");
}

// [10]: processes of their own, which import the user's main module once more.
TEST(PowerMonitorThreads, StartNoProcess) {
  GatedGpus gpus(2);
  const PowerMonitor monitor = gpus.monitor();
  errno = 0;
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(PowerMonitorThreads, AnswerAnybodyWhileTheyRead) {
  GatedGpus gpus(2);
  PowerMonitor monitor = gpus.monitor(1ms);
  const TimePoint begin = machine_clock().now();
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  constexpr int kAskers = 3;
  std::vector<std::thread> askers;
  askers.reserve(kAskers);
  for (int i = 0; i < kAskers; ++i) {
    askers.emplace_back([&] {
      while (!done) {
        const auto samples = monitor.timeline(kInstant).at(0);
        for (std::size_t k = 1; k < samples.size(); ++k) {
          // Each value is the number of its reading: the next is 1 mW more.
          const double step = samples[k].power.si() - samples[k - 1].power.si();
          if (step < 0.0005 || samples[k].timestamp < samples[k - 1].timestamp) ++wrong;
        }
        (void)monitor.energy(begin, machine_clock().now());
        (void)monitor.power_at(begin + 10ms);
      }
    });
  }
  EXPECT_TRUE(eventually([&] { return gpus.gates[0]->reads >= 500; }));
  done = true;
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(wrong, 0);
}

TEST(PowerMonitorThreads, ReadCountersSoOftenThatNoneWrapsUnseenWhateverThePeriod) {
  Channel channel = fakes::counter_channel(Domain::package(0));
  channel.counter.modulus =
      std::uint64_t{16384} * 40;  // at 2 kW, the most there can be, a turn takes 20 ms
  std::vector<fakes::ScriptedCounter> counters;
  counters.push_back(fakes::constant_power(channel, Watts(50.0), machine_clock().now()));
  Survey found;
  found.sensors.push_back(
      std::make_unique<fakes::ScriptedSensor>(std::move(counters), machine_clock()));
  const PowerMonitor monitor =
      PowerMonitorMaker::make(std::move(found), machine_clock(), {.update_period = 1h});
  EXPECT_TRUE(eventually([&] { return monitor.cpu_timeline(Domain::package(0)).size() >= 5; }));
}

TEST(PowerMonitorThreads, ReadCpusWhenAskedSoThatTheEnergiesOfLinesAddUp) {
  PowerMonitor monitor =
      PowerMonitorMaker::make(real_package(), machine_clock(), {.update_period = 1h});
  std::vector<TimePoint> ends;
  Joules sum;
  for (int line = 0; line <= 10; ++line) {
    ends.push_back(machine_clock().now());
    (void)monitor.read_now(fakes::kLongWait);
    if (line == 0) continue;
    const MeasuredEnergy energy =
        monitor.cpu_energy(ends[ends.size() - 2], ends.back()).at(Domain::package(0));
    ASSERT_TRUE(energy.energy);
    EXPECT_FALSE(energy.flags.has(Flag::gap));
    EXPECT_EQ(energy.unknown, Seconds(0));
    sum += *energy.energy;
    std::this_thread::sleep_for(2ms);
  }
  const MeasuredEnergy all = monitor.cpu_energy(ends.front(), ends.back()).at(Domain::package(0));
  // To the last bit, but where a reading was interrupted: what lies around it is looked up in
  // another way, and off by far less than the uncertainty.
  EXPECT_NEAR(sum.si(), all.energy->si(), std::max(1e-9, all.uncertainty.si() / 10));
  // Whoever is interrupted while it reads knows less exactly when that was, and says so.
  EXPECT_NEAR(sum.si(), 50.0 * Seconds(ends.back() - ends.front()).count(),
              1e-3 + all.uncertainty.si());
}

TEST(PowerMonitorThreads, LogFaults) {
  const HeardLog log;
  GatedGpus gpus(1);
  gpus.gates[0]->status = ReadStatus::retry;
  PowerMonitor monitor = gpus.monitor();
  ASSERT_TRUE(eventually([&] { return gpus.gates[0]->reads >= 12; }));
  monitor.stop();
  EXPECT_TRUE(eventually([&] { return !log.messages().empty(); }));
  EXPECT_THAT(log.messages().front(), HasSubstr("GPU 0"));
}

/// In a child: nothing is waited for, nothing is torn down, and what was known can be asked.
int look_at_copy(PowerMonitor* monitor) {
  monitor->stop();
  if (!monitor->power().at(0)) return 2;
  monitor->~PowerMonitor();
  return 0;
}

TEST(PowerMonitorThreads, LeaveAForkedChildAlone) {
  GatedGpus gpus(1);
  auto* const monitor = new PowerMonitor(gpus.monitor());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(60);
    ::_exit(look_at_copy(monitor));
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const int reads = gpus.gates[0]->reads;
  EXPECT_TRUE(eventually([&] { return gpus.gates[0]->reads > reads; }));
  delete monitor;
}

}  // namespace
}  // namespace wattle::power_test
