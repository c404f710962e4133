// What the hardware monitor records where devices fail, are absent or are selected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "../power/heard_log.hpp"
#include "base/files/file.hpp"
#include "fakes/file_size_limit.hpp"
#include "fakes/gated_sensor.hpp"
#include "fakes/nvml/control.hpp"
#include "fakes/temp_folder.hpp"
#include "monitored_gpus.hpp"
#include "original_reader.hpp"
#include "samples_reader.hpp"
#include "wattle/error.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle {
namespace {
using namespace std::chrono_literals;
using fakes::eventually;
using testing::Contains;
using testing::ContainsRegex;
using testing::Each;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST_F(HardwareMonitorTest, SaysNothingOfGpusInTicksInWhichTheirDriverFails) {
  nvml_.set_script(
      "gpu A\nutilization 80 30\npower step 0 100\nerror nvmlDeviceGetUtilizationRates 999 every "
      "3\n"
      "error nvmlDeviceGetFieldValues 999 every 4\n");
  HardwareMonitor monitor(options({.interval = kQuick}));
  monitor.start(out_);
  const auto count = [&](const char* cells) {
    return std::ranges::count_if(lines("hw_metrics.csv"), [&](const std::string& line) {
      return line.find(cells) != std::string::npos;
    });
  };
  EXPECT_TRUE(eventually([&] {
    return count(", 80, 30, ") > 2 && count(", [N/A], [N/A], ") > 2 && count(", 100.00, ") > 2;
  }));
  const HardwareFiles files = monitor.stop();
  const GpuFigures all = build_resource_summary(files.gpu_csv, std::nullopt);
  EXPECT_EQ(all.gpu_util_mean_pct, 80.0);
  EXPECT_EQ(all.power_watts_mean, 100.0);
}

TEST_F(HardwareMonitorTest, DoesWithoutADriver) {
  system_.nvml_library = "/nowhere/libnvidia-ml.so.1";
  HardwareMonitor monitor(options());
  monitor.start(out_);
  const HardwareFiles files = monitor.stop();
  EXPECT_FALSE(files.gpu_csv || files.dmon_csv);
  EXPECT_TRUE(files.cpu_csv && files.samples_csv);
  EXPECT_FALSE(std::filesystem::exists(path("hw_metrics.csv")));
  EXPECT_FALSE(std::filesystem::exists(path("hw_dmon.csv")));
}

TEST_F(HardwareMonitorTest, DoesNotStartWhereThereIsNothing) {
  system_.nvml_library = "/nowhere/libnvidia-ml.so.1";
  system_.procfs = "/nowhere";
  HardwareMonitor monitor(options());
  EXPECT_THAT([&] { monitor.start(out_); },
              ThrowsMessage<NoSuchDevice>(HasSubstr("see wattle doctor")));
  EXPECT_FALSE(monitor.is_started());
}

TEST_F(HardwareMonitorTest, StartsWhereThereIsNothingAndThatIsNoError) {
  system_.nvml_library = "/nowhere/libnvidia-ml.so.1";
  system_.procfs = "/nowhere";
  HardwareMonitor monitor(options({.if_unavailable = IfUnavailable::ignore}));
  monitor.start(out_);
  EXPECT_TRUE(monitor.is_started());
  const HardwareFiles files = monitor.stop();
  EXPECT_FALSE(files.gpu_csv || files.dmon_csv || files.cpu_csv || files.samples_csv);
}

TEST_F(HardwareMonitorTest, RecordsTheSelectedGpusAlone) {
  HardwareMonitor monitor(options({.gpus = {1}}));
  monitor.start(out_);
  (void)monitor.stop();
  EXPECT_EQ(lines("hw_metrics.csv").size(), 2U) << "one GPU at both ends";
}

TEST_F(HardwareMonitorTest, RefusesAGpuThatIsNotThereUnlessThatIsNoError) {
  EXPECT_THROW(HardwareMonitor(options({.gpus = {0, 7}})), NoSuchDevice);
  HardwareMonitor monitor(options({.gpus = {0, 7}, .if_unavailable = IfUnavailable::ignore}));
  EXPECT_THAT(heard_.messages(), Contains(HasSubstr("no GPU has the number 7")));
  monitor.start(out_);
  (void)monitor.stop();
  EXPECT_EQ(lines("hw_metrics.csv").size(), 2U);
}

TEST_F(HardwareMonitorTest, WritesPointsUnderAGermanLocale) {
  // NOLINTBEGIN(concurrency-mt-unsafe): one thread
  const bool is_german = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
  HardwareMonitor monitor(options());
  monitor.start(out_);
  (void)monitor.stop();
  std::setlocale(LC_ALL, "C");
  // NOLINTEND(concurrency-mt-unsafe)
  EXPECT_THAT(lines("hw_metrics.csv"), Each(ContainsRegex(", [12]00\\.00, 45, ")));
  EXPECT_THAT(lines("cpu_metrics.csv").at(1), ContainsRegex(",[0-9]+\\.[0-9],[0-9]+\\.[0-9]$"));
  if (!is_german) GTEST_SKIP() << "this machine has no German locale: points in another one";
}

TEST_F(HardwareMonitorTest, DoesNothingInAForkedChild) {
  HardwareMonitor monitor(options({.interval = std::chrono::hours(1)}));
  monitor.start(out_);
  const auto before = lines("hw_metrics.csv");
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_inert = !monitor.is_started() && !monitor.stop().gpu_csv;
    ::_exit(is_inert ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(lines("hw_metrics.csv"), before);
  EXPECT_TRUE(monitor.stop().gpu_csv);
}

}  // namespace
}  // namespace wattle
