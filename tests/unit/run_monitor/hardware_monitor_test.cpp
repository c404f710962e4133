// The monitor as its user has it: a scripted driver, real time, real files.
#include "wattle/hardware_monitor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <span>
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

namespace wattle {
namespace {

using namespace std::chrono_literals;
using fakes::eventually;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;
using testing::ThrowsMessage;

TEST_F(HardwareMonitorTest, WritesFilesThatTheOriginalsReaderReads) {
  HardwareMonitor monitor(options({.interval = kQuick}));
  monitor.start(out_);
  EXPECT_TRUE(has_rows("hw_metrics.csv", 20));
  const HardwareFiles files = monitor.stop();
  EXPECT_EQ(files.gpu_csv, path("hw_metrics.csv"));
  EXPECT_EQ(files.cpu_csv, path("cpu_metrics.csv"));
  EXPECT_EQ(files.dmon_csv, path("hw_dmon.csv"));
  EXPECT_EQ(files.samples_csv, path("hw_samples.csv"));
  EXPECT_EQ(files.lost_rows, 0U);

  const original_reader::Gpus gpus = original_reader::read_gpu_csv(*files.gpu_csv);
  EXPECT_GE(gpus.util.rows, 20);
  EXPECT_EQ(gpus.util.mean, 80.0);
  EXPECT_EQ(gpus.vram_mib.max, 1000.0);
  EXPECT_EQ(gpus.power_w.mean, 150.0);
  EXPECT_EQ(gpus.power_w.max, 200.0);
  const original_reader::Figures memory_util = original_reader::read_dmon(*files.dmon_csv);
  EXPECT_EQ(memory_util.rows, gpus.util.rows);
  EXPECT_EQ(memory_util.mean, 30.0);
  EXPECT_EQ(memory_util.max, 30.0);
  const original_reader::Cpu cpu = original_reader::read_cpu_csv(*files.cpu_csv);
  EXPECT_GE(cpu.usr.rows, 1);
  EXPECT_LE(cpu.usr.max, 100.0);
  EXPECT_THAT(lines("hw_metrics.csv"),
              Each(MatchesRegex("[0-9]{4}/[0-9]{2}/[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}, "
                                "80, 30, 1000, 76293, [12]00\\.00, 45, 1410, 1593")));
}

TEST_F(HardwareMonitorTest, WritesATableOfAllValuesThatIsReadByItsColumnsAlone) {
  HardwareMonitor monitor(options({.interval = kQuick}));
  monitor.start(out_);
  EXPECT_TRUE(has_rows("hw_metrics.csv", 20));
  const samples_reader::Samples samples = samples_reader::read(monitor.stop().samples_csv.value());

  const auto values = [&](const char* device, const char* quantity) {
    std::vector<double> found;
    const auto row = samples.find({device, quantity});
    if (row == samples.end()) return found;
    for (const samples_reader::Sample& sample : row->second) found.push_back(sample.value);
    return found;
  };
  const auto always = [](double value) { return AllOf(Not(IsEmpty()), Each(value)); };
  EXPECT_THAT(values("nvidia_gpu_0", "power_w"), always(100.0));
  EXPECT_THAT(values("nvidia_gpu_1", "power_w"), always(200.0));
  EXPECT_THAT(values("nvidia_gpu_1", "utilization_percent"), always(80.0));
  EXPECT_THAT(values("nvidia_gpu_1", "memory_utilization_percent"), always(30.0));
  EXPECT_THAT(values("nvidia_gpu_1", "memory_used_bytes"), always(1048576000.0));
  EXPECT_THAT(values("nvidia_gpu_1", "memory_total_bytes"), always(80e9));
  EXPECT_THAT(values("nvidia_gpu_1", "temperature_celsius"), always(45.0));
  EXPECT_THAT(values("nvidia_gpu_1", "clock_sm_hz"), always(1410e6));
  EXPECT_THAT(values("nvidia_gpu_1", "clock_memory_hz"), always(1593e6));
  const std::vector<double> energy = values("nvidia_gpu_1", "energy_j");
  EXPECT_THAT(energy, Not(IsEmpty()));
  EXPECT_TRUE(std::is_sorted(energy.begin(), energy.end()));
  EXPECT_THAT(values("memory", "used_bytes"), AllOf(Not(IsEmpty()), Each(testing::Gt(0.0))));

  const auto& powers = samples.at({"nvidia_gpu_1", "power_w"});
  EXPECT_EQ(powers.size(), lines("hw_metrics.csv").size() / 2) << "a row of each GPU each time";
  for (const samples_reader::Sample& sample : powers) {
    EXPECT_EQ(sample.index, "1");
    EXPECT_EQ(sample.uuid, "GPU-bbbb");
    EXPECT_THAT(sample.time, MatchesRegex("[0-9-]{10}T[0-9:]{8}\\.[0-9]{3}\\+00:00"));
  }
  const auto shares = {"user", "system", "idle", "iowait", "irq", "steal"};
  for (std::size_t i = 0; i < values("cpu", "user_percent").size(); ++i) {
    double sum = 0.0;
    for (const std::string share : shares) sum += values("cpu", (share + "_percent").c_str()).at(i);
    EXPECT_NEAR(sum, 100.0, 1e-9);
  }
}

TEST_F(HardwareMonitorTest, WritesFilesThatItsOwnSummaryReads) {
  HardwareMonitor monitor(options({.interval = kQuick}));
  monitor.start(out_);
  EXPECT_TRUE(has_rows("hw_metrics.csv", 20));
  const HardwareFiles files = monitor.stop();
  const ResourceSummary summary =
      build_resource_summary(files.gpu_csv, files.cpu_csv, files.dmon_csv);
  ASSERT_EQ(summary.gpus.size(), 2U);
  EXPECT_EQ(summary.gpus[0].power_watts_mean, 100.0);
  EXPECT_EQ(summary.gpus[1].power_watts_mean, 200.0);
  EXPECT_EQ(summary.mem_util_mean_pct, 30.0);
  EXPECT_GT(summary.energy.value().si(), 0.0);
  for (const SummaryFile& file : summary.files) {
    EXPECT_EQ(file.bad_rows, 0U) << file.path;
    EXPECT_THAT(file.problem, IsEmpty()) << file.path;
  }
}

TEST_F(HardwareMonitorTest, HasARowOfProcessorsHoweverShortTheRun) {
  HardwareMonitor monitor(options());
  monitor.start(out_);
  const HardwareFiles files = monitor.stop();
  EXPECT_EQ(lines("cpu_metrics.csv").size(), 2U) << "the header, and the partial interval";
  EXPECT_TRUE(files.cpu_csv);
  EXPECT_EQ(lines("hw_metrics.csv").size(), 4U) << "both GPUs at both ends";
}

TEST_F(HardwareMonitorTest, ReportsHowItMayNotBeUsed) {
  HardwareMonitor monitor(options());
  EXPECT_THROW(monitor.stop(), NotStarted);
  monitor.start(out_);
  EXPECT_TRUE(monitor.is_started());
  EXPECT_THAT([&] { monitor.start(out_); },
              ThrowsMessage<InvalidState>(HasSubstr("it is started already; stop it")));
  const HardwareFiles files = monitor.stop();
  EXPECT_FALSE(monitor.is_started());
  EXPECT_EQ(monitor.stop().cpu_csv, files.cpu_csv) << "a second time it does nothing";
}

TEST_F(HardwareMonitorTest, RefusesIntervalsThatAreNone) {
  using namespace std::chrono_literals;
  for (const std::chrono::nanoseconds interval :
       {0ns, -1ns, 999'999ns, std::chrono::nanoseconds(24h) + 1ns,
        std::chrono::nanoseconds::max()}) {
    EXPECT_THAT([&] { const HardwareMonitor monitor(options({.interval = interval})); },
                ThrowsMessage<InvalidArgument>(HasSubstr("the interval is from 0.001 to 86400 s")));
  }
}

TEST_F(HardwareMonitorTest, IsStartedAgainAndGoesOnAfterTheLastRow) {
  HardwareMonitor monitor(options());
  monitor.start(out_);
  (void)monitor.stop();
  const auto before = lines("hw_dmon.csv");
  monitor.start(out_);
  (void)monitor.stop();
  const auto after = lines("hw_dmon.csv");
  ASSERT_EQ(after.size(), before.size() + 4);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
  EXPECT_EQ(std::ranges::count(lines("cpu_metrics.csv"), "timestamp,usr_pct,idle_pct"), 1);
}

TEST_F(HardwareMonitorTest, ReportsWhereTheRowsOfThisRunBegin) {
  HardwareMonitor monitor(options({.interval = std::chrono::hours(1)}));  // rows at the ends alone
  monitor.start(out_);
  const HardwareFiles first = monitor.stop();
  EXPECT_EQ(first.gpu_csv_begin, 0U);
  nvml_.set_script("gpu A\npower step 0 70\nutilization 7 3\n");
  monitor.start(out_);
  const HardwareFiles second = monitor.stop();
  const ResourceSummary of_second = build_resource_summary(second);
  EXPECT_EQ(of_second.power_watts_max, 70.0);
  EXPECT_EQ(of_second.gpu_util_max_pct, 7.0);
  EXPECT_EQ(of_second.mem_util_max_pct, 3.0);
  ASSERT_EQ(of_second.files.size(), 4U);
  EXPECT_EQ(of_second.files[1].rows, 1U) << "of processors";
  EXPECT_EQ(build_resource_summary(second.gpu_csv, second.cpu_csv).power_watts_max, 200.0)
      << "all that is there";
}

TEST_F(HardwareMonitorTest, StartsFilesAgainWhereThatIsWanted) {
  HardwareMonitor monitor(options());
  monitor.start(out_);
  (void)monitor.stop();
  HardwareMonitor other(options({.overwrite = true}));
  other.start(out_);
  (void)other.stop();
  EXPECT_EQ(lines("hw_metrics.csv").size(), 4U);
}

TEST_F(HardwareMonitorTest, ReplacesFilesOfNvidiaSmiWhereThatIsWanted) {
  for (const auto& [gpu, dmon] :
       {std::pair("timestamp, utilization.gpu [%]\n", "# gpu    pwr  gtemp\n# Idx      W      C\n"),
        {"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
         "#Date       Time        gpu    sm\n"},
        {"2026/11/21 01:50:09.123, 60, 13\n", "Failed to initialize NVML: Unknown Error\n"}}) {
    folder_.write("new/deep/hw_metrics.csv", gpu);
    folder_.write("new/deep/hw_dmon.csv", dmon);
    HardwareMonitor monitor(options({.overwrite = true}));
    monitor.start(out_);
    (void)monitor.stop();
    EXPECT_EQ(lines("hw_metrics.csv").size(), 4U) << gpu;
    EXPECT_THAT(lines("hw_dmon.csv").at(0), Not(StartsWith(dmon)));
  }
}

TEST_F(HardwareMonitorTest, HasItsFolderForItself) {
  HardwareMonitor monitor(options());
  monitor.start(out_);
  HardwareMonitor other(options());
  EXPECT_THAT([&] { other.start(out_); },
              ThrowsMessage<InvalidArgument>(HasSubstr("another monitor writes to this folder")));
  (void)monitor.stop();
  EXPECT_NO_THROW(other.start(out_));
}

TEST_F(HardwareMonitorTest, RestartsAfterTheLastWholeLineWhereverTheFilesWereCut) {
  const auto run_once = [&] { HardwareMonitor(options()).start(out_); };
  run_once();
  for (const char* name : {"hw_metrics.csv", "cpu_metrics.csv", "hw_dmon.csv", "hw_samples.csv"}) {
    const std::string whole = read_file(path(name).string()).value_or("");
    for (const std::size_t missing : {1U, 2U, 10U, 25U, 40U, 55U}) {
      const std::string cut = whole.substr(0, whole.size() - missing);
      const std::string whole_lines = cut.substr(0, cut.rfind('\n') + 1);
      folder_.write(std::filesystem::path("new/deep") / name, cut);
      run_once();
      const std::string now = read_file(path(name).string()).value_or("");
      EXPECT_THAT(now, StartsWith(whole_lines)) << name << " without " << missing;
      EXPECT_THAT(now.substr(whole_lines.size()),
                  Not(StartsWith(cut.substr(whole_lines.size()) + "\n")));
      EXPECT_THAT(now, EndsWith("\n"));
    }
  }
  const ResourceSummary summary =
      build_resource_summary(path("hw_metrics.csv"), path("cpu_metrics.csv"), path("hw_dmon.csv"));
  // Whose row it is cannot be known where a cut took the other GPU's of that moment.
  EXPECT_LE(summary.files[0].bad_rows, 1U);
  for (const SummaryFile& file : std::span(summary.files).subspan(1)) {
    EXPECT_EQ(file.bad_rows, 0U) << file.path;
  }
}

TEST_F(HardwareMonitorTest, CannotStartWhereItMayNotWrite) {
  HardwareMonitor monitor(options());
  folder_.write("file", "");
  EXPECT_THROW(monitor.start(folder_.path() / "file" / "below"), WriteError);
  EXPECT_THROW(monitor.start("/proc/nowhere"), WriteError);
  EXPECT_FALSE(monitor.is_started());
  monitor.start(out_);
  (void)monitor.stop();
  EXPECT_EQ(lines("hw_metrics.csv").size(), 4U);
}

TEST_F(HardwareMonitorTest, LeavesTheFilesOfOthersAlone) {
  folder_.write("new/deep/hw_dmon.csv", "# gpu   pwr\n");
  HardwareMonitor monitor(options());
  EXPECT_THROW(monitor.start(out_), FormatError);
  EXPECT_FALSE(monitor.is_started());
  EXPECT_EQ(read_file(path("hw_dmon.csv").string()), "# gpu   pwr\n");
}

TEST_F(HardwareMonitorTest, OverwritesNoFileOfOthersNorThenAnyOfItsOwn) {
  HardwareMonitor monitor(options());
  monitor.start(out_);
  (void)monitor.stop();
  const auto rows = lines("hw_metrics.csv");
  HardwareMonitor other(options({.overwrite = true}));
  for (const char* name : {"hw_samples.csv", "cpu_metrics.csv", "hw_dmon.csv", "hw_metrics.csv"}) {
    const std::string own = read_file(path(name).string()).value_or("");
    folder_.write(std::filesystem::path("new/deep") / name, "dear diary\n");
    EXPECT_THAT([&] { other.start(out_); },
                ThrowsMessage<FormatError>(
                    AllOf(HasSubstr(name), HasSubstr("\"dear diary\""), HasSubstr("remove it"))));
    EXPECT_FALSE(other.is_started());
    EXPECT_EQ(read_file(path(name).string()), "dear diary\n");
    folder_.write(std::filesystem::path("new/deep") / name, own);
  }
  EXPECT_EQ(lines("hw_metrics.csv"), rows);
}

TEST_F(HardwareMonitorTest, GoesOnWhereTheDiskIsFull) {
  HardwareMonitor monitor(options({.interval = kQuick}));
  monitor.start(out_);
  EXPECT_TRUE(has_rows("hw_metrics.csv", 4));
  {
    const fakes::FileSizeLimit limit(200);
    EXPECT_TRUE(eventually([&] { return heard_.messages().size() > 3; }))
        << "each of four files tells it";
  }
  const std::size_t rows = lines("hw_metrics.csv").size();
  EXPECT_TRUE(has_rows("hw_metrics.csv", rows + 4)) << "there is room again";
  const HardwareFiles files = monitor.stop();
  EXPECT_GT(files.lost_rows, 0U);
  const ResourceSummary summary =
      build_resource_summary(files.gpu_csv, files.cpu_csv, files.dmon_csv);
  for (const SummaryFile& file : summary.files) EXPECT_EQ(file.bad_rows, 0U) << file.path;
}

TEST_F(HardwareMonitorTest, WritesToADeviceThatIsFull) {
  std::filesystem::create_directories(out_);
  std::filesystem::create_symlink("/dev/full", path("hw_metrics.csv"));
  HardwareMonitor monitor(options());
  monitor.start(out_);
  const HardwareFiles files = monitor.stop();
  EXPECT_FALSE(files.gpu_csv);
  EXPECT_TRUE(files.dmon_csv) << "the others are written";
  EXPECT_EQ(files.lost_rows, 4U);
  EXPECT_THAT(heard_.messages(), testing::Contains(HasSubstr("No space left on device")));
}

TEST_F(HardwareMonitorTest, MakesFilesAgainThatAreDeletedMeanwhile) {
  HardwareMonitor monitor(options({.interval = kQuick}));
  monitor.start(out_);
  EXPECT_TRUE(has_rows("hw_metrics.csv", 4));
  std::error_code ignored;  // where a file was made again before its folder was gone
  std::filesystem::remove_all(out_, ignored);
  EXPECT_TRUE(has_rows("hw_metrics.csv", 4));
  EXPECT_TRUE(has_rows("hw_dmon.csv", 4));
  EXPECT_EQ(monitor.stop().lost_rows, 0U);
  EXPECT_EQ(lines("hw_dmon.csv").at(0), "# gpu     sm    mem     fb");
}

}  // namespace
}  // namespace wattle
