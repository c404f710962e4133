// What rows hold, in virtual time.
#include "run_monitor/recording.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/files/file.hpp"
#include "base/text/split.hpp"
#include "fakes/gated_sensor.hpp"
#include "fakes/scripted_sensor.hpp"
#include "fakes/temp_folder.hpp"
#include "fakes/virtual_clock.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr TimePoint kBegin{1h};

/// What a test says of a GPU from now on.
struct Played {
  std::atomic<double> power_w{100.0};
  std::atomic<ReadStatus> status{ReadStatus::ok};
};

Channel gauge(Domain gpu, Metric metric, double scale = 1.0) {
  return {.domain = gpu, .metric = metric, .gauge = {.scale = scale}};
}

/// A GPU of any maker, as its driver would be read.
class PlayedGpu final : public Sensor {
 public:
  PlayedGpu(Domain gpu, std::shared_ptr<Played> played, const TimeSource& clock)
      : played_(std::move(played)), clock_(clock) {
    channels_ = {gauge(gpu, Metric::power_average, 1e-3), gauge(gpu, Metric::utilization),
                 gauge(gpu, Metric::memory_utilization),  gauge(gpu, Metric::memory_used),
                 gauge(gpu, Metric::memory_total),        gauge(gpu, Metric::temperature),
                 gauge(gpu, Metric::clock_sm, 1e6),       gauge(gpu, Metric::clock_memory, 1e6)};
    info_.id = "ID-" + gpu.name();
  }
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  [[nodiscard]] const DeviceInfo* device() const noexcept override { return &info_; }
  [[nodiscard]] bool may_block() const noexcept override { return true; }
  void read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept override {
    const auto power_mw = static_cast<std::uint64_t>(played_->power_w * 1e3);
    const std::array<std::uint64_t, 8> raw = {
        power_mw, 80, 30, std::uint64_t{1000} << 20U, std::uint64_t{2000} << 20U, 45, 1410, 1593};
    for (std::size_t i = 0; i < readings.size(); ++i) {
      readings[i] = {.at = clock_.now(), .raw = raw.at(i), .status = played_->status};
    }
  }

 private:
  std::shared_ptr<Played> played_;
  const TimeSource& clock_;
  std::vector<Channel> channels_;
  DeviceInfo info_;
};

class RecordingTest : public testing::Test {
 protected:
  RecordingTest() {
    system_.procfs = folder_.path() / "proc";
    system_.sysfs = folder_.path() / "sys";
    set_cpu(0, 0);
  }
  void set_cpu(int user, int idle) const {
    folder_.write("proc/stat", fmt::format("cpu {} 0 0 {} 0 0 0 0 0 0\nintr 0\n", user, idle));
  }
  std::shared_ptr<Played> add_gpu(Domain gpu) {
    auto played = std::make_shared<Played>();
    sensors_.push_back(std::make_unique<PlayedGpu>(gpu, played, clock_));
    return played;
  }
  void add_package(double power_w) {
    std::vector<fakes::ScriptedCounter> counters;
    counters.push_back(
        fakes::constant_power(fakes::counter_channel(Domain::package(0)), Watts(power_w), kBegin));
    sensors_.push_back(std::make_unique<fakes::ScriptedSensor>(std::move(counters), clock_));
  }
  void start(std::chrono::nanoseconds interval = std::chrono::seconds(2)) {
    recording_ = std::make_unique<Recording>(
        Survey{.sensors = std::move(sensors_), .refused = std::move(refused_)}, clock_,
        folder_.path(), HardwareMonitorOptions{.interval = interval, .system = system_});
    recording_->begin();
  }
  void pass(std::chrono::nanoseconds time, bool last = false) {
    clock_.advance(time);
    recording_->tick(last);
  }
  [[nodiscard]] std::vector<std::string> lines(const char* name) const {
    const std::string text = read_file((folder_.path() / name).string()).value_or("none\n");
    std::vector<std::string> lines;
    for (std::string_view rest = text; !rest.empty();) lines.emplace_back(take_line(rest));
    return lines;
  }
  /// The values of a quantity, in the order of their times.
  [[nodiscard]] std::vector<double> samples(const std::string& device,
                                            const std::string& quantity) const {
    std::vector<double> values;
    for (const std::string& line : lines("hw_samples.csv")) {
      const std::size_t cell = line.rfind(',');
      if (line.find("," + device + ",") != std::string::npos &&
          line.find("," + quantity + ",") != std::string::npos) {
        values.push_back(std::stod(line.substr(cell + 1)));
      }
    }
    return values;
  }

  fakes::TempFolder folder_;
  fakes::VirtualClock clock_;
  System system_;
  std::vector<std::unique_ptr<Sensor>> sensors_;
  std::vector<SensorRefusal> refused_;
  std::unique_ptr<Recording> recording_;
};

TEST_F(RecordingTest, HasARowOfEachGpuAtTheBeginAndAtEachTick) {
  const auto first = add_gpu(Domain::nvidia_gpu(0));
  const auto second = add_gpu(Domain::nvidia_gpu(1));
  second->power_w = 250.5;
  start();
  first->power_w = 120.0;
  pass(2s);
  EXPECT_THAT(lines("hw_metrics.csv"),
              ElementsAre(HasSubstr(", 80, 30, 1000, 2000, 100.00, 45, 1410, 1593"),
                          HasSubstr(", 80, 30, 1000, 2000, 250.50, 45, 1410, 1593"),
                          HasSubstr(", 120.00, "), HasSubstr(", 250.50, ")));
  EXPECT_THAT(lines("hw_dmon.csv"),
              ElementsAre("# gpu     sm    mem     fb", "# Idx      %      %     MB",
                          "    0     80     30   1000", "    1     80     30   1000",
                          "    0     80     30   1000", "    1     80     30   1000"));
}

TEST_F(RecordingTest, GivesNoTwoRowsTheSameTime) {
  (void)add_gpu(Domain::nvidia_gpu(0));
  (void)add_gpu(Domain::nvidia_gpu(1));
  start();
  for (int i = 0; i < 5; ++i) pass(100us);
  const auto rows = lines("hw_metrics.csv");
  ASSERT_EQ(rows.size(), 12U);
  constexpr std::size_t kTimeLength = 23;
  for (std::size_t i = 0; i + 2 < rows.size(); i += 2) {
    EXPECT_EQ(rows[i].substr(0, kTimeLength), rows[i + 1].substr(0, kTimeLength));
    EXPECT_LT(rows[i].substr(0, kTimeLength), rows[i + 2].substr(0, kTimeLength));
  }
}

TEST_F(RecordingTest, SaysNothingOfAReadingThatFailed) {
  const auto gpu = add_gpu(Domain::nvidia_gpu(0));
  start();
  gpu->status = ReadStatus::retry;
  pass(2s);
  gpu->status = ReadStatus::ok;
  pass(2s);
  EXPECT_THAT(lines("hw_metrics.csv"),
              ElementsAre(HasSubstr(", 100.00, "),
                          HasSubstr(", [N/A], [N/A], [N/A], [N/A], [N/A], [N/A], [N/A], [N/A]"),
                          HasSubstr(", 100.00, ")));
  EXPECT_EQ(lines("hw_dmon.csv").at(3), "    0      -      -      -");
  EXPECT_EQ(samples("nvidia_gpu_0", "power_w").size(), 2U);
}

TEST_F(RecordingTest, ReportsOtherVendorsInTheSamplesAlone) {
  (void)add_gpu(Domain::amd_gpu(0));
  start();
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "hw_metrics.csv"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "hw_dmon.csv"));
  EXPECT_THAT(samples("amd_gpu_0", "utilization_percent"), ElementsAre(80.0));
  EXPECT_THAT(lines("hw_samples.csv").at(2), HasSubstr(",amd_gpu_0,0,ID-amd_gpu_0,"));
}

TEST_F(RecordingTest, SumsTheEnergyOfProcessors) {
  add_package(50.0);
  start();
  pass(2s);
  pass(2s);
  const std::vector<double> energies = samples("package_0", "energy_j");
  ASSERT_EQ(energies.size(), 2U);
  EXPECT_NEAR(energies[0], 100.0, 0.01);
  EXPECT_NEAR(energies[1], 200.0, 0.01);
  for (const double power : samples("package_0", "power_w")) EXPECT_NEAR(power, 50.0, 0.01);
  EXPECT_THAT(samples("package_0", "power_w"), testing::SizeIs(2));
}

TEST_F(RecordingTest, BeginsEachRunWithItsInterval) {
  add_package(50.0);
  start(std::chrono::seconds(2));
  EXPECT_THAT(lines("hw_samples.csv").at(1), HasSubstr(",monitor,,,interval_s,2"));
  pass(2s);
  EXPECT_THAT(samples("monitor", "interval_s"), ElementsAre(2.0));
}

TEST_F(RecordingTest, SaysHowUncertainTheEnergyIs) {
  add_package(50.0);
  start();
  pass(2s);
  pass(2s);
  const std::vector<double> uncertainties = samples("package_0", "energy_uncertainty_j");
  ASSERT_EQ(uncertainties.size(), 2U);
  EXPECT_GT(uncertainties[1], 0.0);
  EXPECT_NEAR(uncertainties[0], uncertainties[1], 0.1 * uncertainties[0])
      << "the ends of one window, not of two";
  EXPECT_THAT(samples("package_0", "energy_integrated_s"), IsEmpty());
}

TEST_F(RecordingTest, SaysThatACounterIsStuck) {
  add_package(0.0);
  start();
  pass(2s);
  pass(2s);
  EXPECT_THAT(samples("package_0", "energy_j"), IsEmpty());
  EXPECT_THAT(samples("package_0", "power_w"), IsEmpty());
  EXPECT_THAT(samples("package_0", "energy_unknown_s"), ElementsAre(2.0, 4.0));
  EXPECT_THAT(samples("package_0", "energy_flag_stuck"), ElementsAre(1.0)) << "once";
}

TEST_F(RecordingTest, NamesOnceWhatATotalLacks) {
  add_package(50.0);
  const auto refuse = [&](SensorRefusal refusal) { refused_.push_back(std::move(refusal)); };
  refuse({.source = "powercap",
          .subject = "package_1",
          .reason = "denied, by \"root\"",
          .domain = Domain::package(1)});
  refuse({.source = "powercap", .subject = "package_0", .domain = Domain::package(0)});  // is read
  refuse({.source = "powercap", .subject = "core_1", .domain = Domain::core(1)});
  refuse({.source = "nvml",
          .subject = "NVIDIA GPUs",
          .reason = "no driver",
          .scope = RefusalScope::interface,
          .shows = {DomainKind::nvidia_gpu}});
  refuse({.source = "drm",
          .subject = "AMD and Intel GPUs",
          .absent = true,
          .scope = RefusalScope::interface,
          .shows = {DomainKind::amd_gpu, DomainKind::intel_gpu}});
  refuse({.source = "powercap",
          .subject = "intel-rapl:3",
          .reason = "no name",
          .hidden = {.kinds = {DomainKind::dram}, .expected = 0}});
  start();
  pass(2s);
  EXPECT_THAT(samples("package_1", "not_measured: denied; by 'root'"), ElementsAre(1.0));
  EXPECT_THAT(samples("gpu", "not_measured: no driver"), ElementsAre(1.0));
  EXPECT_THAT(samples("dram", "not_measured: no name"), ElementsAre(1.0));
  for (const std::string& line : lines("hw_samples.csv")) {
    for (const char* const name : {",package_0,", ",core_1,", ",cpu,"}) {
      EXPECT_THAT(line, Not(AllOf(HasSubstr(name), HasSubstr("not_measured"))));
    }
  }
}

TEST_F(RecordingTest, KeepsTheSumOverAnyNumberOfRows) {
  add_package(50.0);
  start(std::chrono::seconds(1));
  for (int row = 0; row < 2000; ++row) pass(1s);
  EXPECT_NEAR(samples("package_0", "energy_j").back(), 1e5, 1.0);
}

TEST_F(RecordingTest, SaysWhichPartOfTheEnergyIsFromAGauge) {
  (void)add_gpu(Domain::nvidia_gpu(0));
  start();
  pass(2s);
  ASSERT_THAT(samples("nvidia_gpu_0", "energy_integrated_s"), testing::SizeIs(1));
  EXPECT_GT(samples("nvidia_gpu_0", "energy_uncertainty_j").at(0), 0.0);
}

TEST_F(RecordingTest, LosesNoWrapBetweenRowsThatAreFarApart) {
  add_package(1000.0);  // 262144 J, so it wraps in about four minutes
  start(std::chrono::hours(1));
  EXPECT_LE(recording_->period(), 60s);
  for (auto time = 0ns; time < 3600s; time += recording_->period()) pass(recording_->period());
  const std::vector<double> energies = samples("package_0", "energy_j");
  ASSERT_EQ(energies.size(), 1U);
  EXPECT_NEAR(energies[0], 3.6e6, 1.0);
}

TEST_F(RecordingTest, SumsTheEnergyOfGpusFromTheirPower) {
  (void)add_gpu(Domain::nvidia_gpu(0));
  start();
  pass(2s);
  const std::vector<double> energies = samples("nvidia_gpu_0", "energy_j");
  ASSERT_EQ(energies.size(), 1U);
  EXPECT_NEAR(energies[0], 200.0, 0.1);
}

TEST_F(RecordingTest, ReportsSharesOfTheTimeBetweenRows) {
  start();
  set_cpu(50, 150);
  pass(2s);
  set_cpu(250, 150);
  pass(1s, true);
  EXPECT_THAT(lines("cpu_metrics.csv"),
              ElementsAre("timestamp,usr_pct,idle_pct", HasSubstr("+00:00,25.0,75.0"),
                          HasSubstr("+00:00,100.0,0.0")));
  EXPECT_THAT(samples("cpu", "user_percent"), ElementsAre(25.0, 100.0));
}

TEST_F(RecordingTest, CarriesTimeWithoutATickToTheNextRow) {
  start();
  pass(2s);
  set_cpu(50, 50);
  pass(2s);
  EXPECT_THAT(lines("cpu_metrics.csv"), ElementsAre(testing::_, HasSubstr(",50.0,50.0")));
}

TEST_F(RecordingTest, HasNoFileOfWhatIsNotThere) {
  std::filesystem::remove_all(folder_.path() / "proc");
  start();
  pass(2s, true);
  EXPECT_THAT(std::filesystem::directory_iterator(folder_.path()),
              std::filesystem::directory_iterator());
  const HardwareFiles files = recording_->files();
  EXPECT_FALSE(files.gpu_csv || files.cpu_csv || files.dmon_csv || files.samples_csv);
}

TEST_F(RecordingTest, GoesOnWithoutAGpuThatHangs) {
  auto gate = std::make_shared<fakes::Gate>();
  gate->shut();
  sensors_.push_back(std::make_unique<fakes::GatedSensor>(
      std::vector{gauge(Domain::nvidia_gpu(0), Metric::utilization)}, gate, clock_));
  (void)add_gpu(Domain::nvidia_gpu(1));
  start();
  constexpr int kPasses = 40;
  const auto before = std::chrono::steady_clock::now();
  for (int i = 0; i < kPasses; ++i) pass(2s);
  EXPECT_LT(std::chrono::steady_clock::now() - before, kPasses * 50ms) << "it was waited for once";
  const std::vector<std::string> rows = lines("hw_metrics.csv");
  ASSERT_EQ(rows.size(), 2U * (kPasses + 1));
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    EXPECT_THAT(rows[i], HasSubstr(", [N/A], "));
    EXPECT_THAT(rows[i + 1], HasSubstr(", 100.00, "));
  }
  gate->open();
  recording_.reset();
}

}  // namespace
}  // namespace wattle
