#include "top/process_watch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

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

}  // namespace
}  // namespace wattle::app
