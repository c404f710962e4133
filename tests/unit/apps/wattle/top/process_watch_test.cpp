#include "top/process_watch.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/cpu_time.hpp"
#include "fakes/process_files.hpp"

namespace wattle::app {
namespace {

class ProcessWatchTest : public testing::Test {
 protected:
  ProcessWatchTest() { put(1, 1000, 0); }

  void put(int pid, std::uint64_t start_time, std::uint64_t ticks) {
    files_.put({.pid = pid, .parent = 0, .user = ticks, .start_time = start_time});
  }
  /// In hundredths of a second; absent where it is not known.
  static std::optional<double> cpu_of(const std::vector<TopProcess>& processes, pid_t pid) {
    const auto found = std::ranges::find(processes, pid, &TopProcess::pid);
    EXPECT_NE(found, processes.end());
    if (found == processes.end() || !found->cpu) return std::nullopt;
    return found->cpu->count() * 100.0;
  }

  fakes::ProcessFiles files_;
  ProcessWatch watch_{files_.system()};
};

TEST_F(ProcessWatchTest, CountsFromOneReadingToTheNext) {
  put(10, 500, 100);
  EXPECT_EQ(cpu_of(watch_.read(), 10), std::nullopt) << "since when?";
  put(10, 500, 130);
  EXPECT_NEAR(cpu_of(watch_.read(), 10).value_or(-1.0), 30.0, 1e-6);
}

TEST_F(ProcessWatchTest, CountsOneThatIsNewFromItsStart) {
  (void)watch_.read();
  put(10, 2000, 7);
  EXPECT_NEAR(cpu_of(watch_.read(), 10).value_or(-1.0), 7.0, 1e-6);
  put(10, 2500, 3);  // another one with this number
  EXPECT_NEAR(cpu_of(watch_.read(), 10).value_or(-1.0), 3.0, 1e-6);
}

TEST_F(ProcessWatchTest, DoesNotCountThePastOfOneThatIsSeenAgain) {
  put(10, 2000, 100'000);
  (void)watch_.read();
  for (const int pause : {1, 3, 30}) {
    files_.take(10);
    for (int i = 0; i < pause; ++i) (void)watch_.read();
    put(11, 3000, 0);
    put(10, 2000, 100'000);
    EXPECT_EQ(cpu_of(watch_.read(), 10), std::nullopt) << pause;
    EXPECT_EQ(cpu_of(watch_.read(), 10), 0.0) << pause;
  }
}

TEST_F(ProcessWatchTest, DoesNotCutTheNameOfAControlGroup) {
  const std::string group = "/a" + std::string(300, 'b');
  for (const char* end : {"1", "2"}) {
    const int pid = 20 + (*end - '0');
    put(pid, 2000, 0);
    files_.folder().write(std::to_string(pid) + "/cgroup", "0::" + group + end + "\n");
  }
  for (const TopProcess& process : watch_.read()) {
    if (process.pid < 20) continue;
    EXPECT_EQ(process.cgroup, group + std::to_string(process.pid - 20));
  }
}

/// Processes whose clocks a test sets.
class ProcessClockTest : public testing::Test {
 protected:
  /// A process of which a reading sees `kib` of memory if it reads its file.
  void put(int pid, std::chrono::milliseconds used, std::uint64_t kib, char state = 'S') {
    clocks_[pid] = used;
    files_.put({.pid = pid, .parent = 0, .state = state, .start_time = 500, .rss_kib = kib});
  }
  /// A process in the reading; null where it is not in it.
  [[nodiscard]] const TopProcess* seen(pid_t pid) const {
    const auto found = std::ranges::find(processes_, pid, &TopProcess::pid);
    return found == processes_.end() ? nullptr : &*found;
  }
  /// Reads until the reading that sees `kib` of a process: how many readings that takes.
  int readings_until(pid_t pid, std::uint64_t kib) {
    constexpr int kMost = 100;
    for (int i = 1; i <= kMost; ++i) {
      read();
      if (seen(pid) != nullptr && seen(pid)->memory_bytes == kib * 1024) return i;
    }
    return 0;
  }
  void read() { processes_ = watch_.read(); }

  fakes::ProcessFiles files_;
  std::map<pid_t, std::chrono::nanoseconds> clocks_;
  std::vector<TopProcess> processes_;
  ProcessWatch watch_{files_.system(), [this](pid_t pid) {
                        const auto found = clocks_.find(pid);
                        return found == clocks_.end() ? std::nullopt : std::optional(found->second);
                      }};
};

TEST_F(ProcessClockTest, CountsByTheClock) {
  put(10, std::chrono::milliseconds(70), 400);
  read();
  EXPECT_EQ(seen(10)->cpu, std::nullopt) << "since when?";
  put(10, std::chrono::milliseconds(73), 400);
  read();
  ASSERT_TRUE(seen(10)->cpu);
  EXPECT_NEAR(seen(10)->cpu->count(), 0.003, 1e-9) << "less than a tick of the kernel";
}

TEST_F(ProcessClockTest, ReadsNoFileOfOneThatRestsForThirtyReadings) {
  put(10, std::chrono::milliseconds(70), 400);
  read();
  EXPECT_LE(readings_until(10, 400), 1);
  put(10, std::chrono::milliseconds(70), 800);
  EXPECT_EQ(seen(10)->memory_bytes, 400U * 1024U);
  ASSERT_GT(readings_until(10, 800), 1);
  EXPECT_EQ(seen(10)->cpu->count(), 0.0);
  put(10, std::chrono::milliseconds(70), 1200);
  EXPECT_EQ(readings_until(10, 1200), 30);
}

TEST_F(ProcessClockTest, ReadsTheFileOfOneThatRuns) {
  put(10, std::chrono::milliseconds(70), 400);
  read();
  put(10, std::chrono::milliseconds(71), 800);
  EXPECT_EQ(readings_until(10, 800), 1);
}

TEST_F(ProcessClockTest, ShowsNoZombieThatRests) {
  put(10, std::chrono::milliseconds(70), 400);
  read();
  put(10, std::chrono::milliseconds(71), 0, 'Z');
  for (int i = 0; i < 40; ++i) {
    read();
    EXPECT_EQ(seen(10), nullptr) << i;
  }
}

TEST_F(ProcessClockTest, ReadsTheFileOfOneWithoutAClock) {
  files_.put({.pid = 10, .parent = 0, .user = 100, .start_time = 500, .rss_kib = 400});
  read();
  files_.put({.pid = 10, .parent = 0, .user = 130, .start_time = 500, .rss_kib = 800});
  EXPECT_EQ(readings_until(10, 800), 1);
  EXPECT_NEAR(seen(10)->cpu.value_or(Seconds(-1)).count(), 0.3, 1e-9);
}

TEST(KernelCpuClocks, AreThoseOfTheOwnProcfsAlone) {
  const fakes::ProcessFiles elsewhere;
  EXPECT_FALSE(kernel_cpu_clocks(elsewhere.system()));
  const CpuClockOf clock_of = kernel_cpu_clocks({});
  if (!clock_of) GTEST_SKIP() << "/proc has other process numbers";
  const auto before = clock_of(::getpid());
  ASSERT_TRUE(before);
  EXPECT_GT(*before, std::chrono::nanoseconds(0));
  EXPECT_GT(clock_of(::getpid()), before);
  clockid_t clock = 0;
  ASSERT_EQ(::clock_getcpuclockid(::getppid(), &clock), 0);
  const auto parent = cpu_time(clock);
  EXPECT_GE(clock_of(::getppid()), parent);
  constexpr pid_t kNobody = 1 << 22;  // above the largest number
  EXPECT_EQ(clock_of(kNobody), std::nullopt);
}

}  // namespace
}  // namespace wattle::app
