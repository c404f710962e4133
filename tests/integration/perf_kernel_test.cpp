// The perf provider on the real kernel. A made-up PMU "power" points at a clock that every kernel
// counts, so that energy grows as time does: its groups, its permissions and its times are real.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "fakes/one_window.hpp"
#include "fakes/perf_pmu.hpp"
#include "fakes/powercap_tree.hpp"
#include "sensors/perf/perf.hpp"

namespace wattle::perf {
namespace {

using testing::Each;
using testing::Field;
using testing::SizeIs;

/// Two events of CPU 0 that count its nanoseconds, 1 nJ each: 1 W.
class PerfKernel : public testing::Test {
 protected:
  void SetUp() override {
    pmu_.write_file("type", std::to_string(PERF_TYPE_SOFTWARE) + "\n");
    pmu_.add_event("energy-pkg", PERF_COUNT_SW_CPU_CLOCK, "1e-9");
    pmu_.add_event("energy-ram", PERF_COUNT_SW_CPU_CLOCK, "1e-9");
    found_ = probe(tree_.system(), machine_clock());
    if (found_.sensors.empty()) {
      ASSERT_THAT(found_.refused, SizeIs(2));
      GTEST_SKIP() << found_.refused[0].reason << ": " << found_.refused[0].proof;
    }
  }
  std::vector<Reading> read() {
    std::vector<Reading> readings(2);
    found_.sensors[0]->read(readings);
    return readings;
  }

  fakes::PowercapTree tree_;
  fakes::PerfPmu pmu_{tree_.root()};
  Survey found_;
};

TEST_F(PerfKernel, CountsAGroupSystemWide) {
  const std::vector<Reading> first = read();
  const std::vector<Reading> second = read();
  EXPECT_THAT(first, Each(Field(&Reading::status, ReadStatus::ok)));
  EXPECT_THAT(second, Each(Field(&Reading::status, ReadStatus::ok)));
  EXPECT_GT(second[0].raw, first[0].raw);
  EXPECT_GT(second[1].raw, first[1].raw);
}

TEST_F(PerfKernel, GivesTheEnergyOfAWindow) {
  fakes::OneWindow recorder(std::move(found_.sensors), machine_clock());
  recorder.read(false);
  const TimePoint begin = machine_clock().now();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const TimePoint end = machine_clock().now();
  recorder.read(true);
  for (const DomainFigure& result : recorder.figures(begin, end)) {
    ASSERT_TRUE(result.figure.energy.has_value()) << result.domain.name();
    EXPECT_NEAR(result.figure.mean->si(), 1.0, 0.5) << result.domain.name();
    EXPECT_EQ(result.figure.unknown.count(), 0.0);
  }
}

TEST_F(PerfKernel, KeepsReadingAfterPrivilegesAreDropped) {
  if (::geteuid() != 0) GTEST_SKIP() << "has no privileges to drop";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    enum { kReads, kCannotDrop, kDoesNotRead };
    if (::setresuid(kNobody, kNobody, kNobody) != 0) ::_exit(kCannotDrop);
    const std::uint64_t before = read()[0].raw;
    const Reading after = read()[0];
    ::_exit(after.status == ReadStatus::ok && after.raw > before ? kReads : kDoesNotRead);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(PerfKernel, KeepsItsDescriptorsFromTheCommand) {
  int events = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    const std::string target = std::filesystem::read_symlink(entry, ignored).string();
    if (target.find("perf_event") == std::string::npos) continue;
    ++events;
    const int fd = std::stoi(entry.path().filename().string());
    EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0) << target;
  }
  EXPECT_EQ(events, 2);
}

}  // namespace
}  // namespace wattle::perf
