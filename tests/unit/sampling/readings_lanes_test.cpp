// GPUs of a scripted driver, read in lanes in real time. Energies are held to their own stated
// uncertainty, whatever a busy machine keeps from being read.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fakes/gated_sensor.hpp"
#include "fakes/nvml/control.hpp"
#include "fakes/one_window.hpp"
#include "known_history.hpp"
#include "sampling/readings.hpp"
#include "sensors/nvml/nvml.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using fakes::eventually;
using fakes::FakeNvml;
using std::chrono::nanoseconds;
using testing::Contains;
using testing::Not;
using testing::SizeIs;

constexpr const char* kPowerCall = "nvmlDeviceGetFieldValues";

/// Scripted GPUs, which are read in lanes. The script's time 0 is when `start` was called.
class ScriptedGpus {
 public:
  explicit ScriptedGpus(const std::string& script)
      : fake_(script),
        sensors_(nvml::probe_within(fake_.system(), machine_clock(), fakes::kLongWait).sensors) {}

  void start(const ReadingsOptions& options = {}) {
    fake_.let_time_pass();
    zero_ = machine_clock().now();
    window_ = std::make_unique<fakes::OneWindow>(std::move(sensors_), machine_clock(), options);
  }
  void begin() {
    EXPECT_TRUE(window_->read_lanes(machine_clock().now() + fakes::kLongWait));
    begin_ = machine_clock().now();
  }
  /// Waits until the script's time is `time`.
  void wait_until(nanoseconds time) const {
    EXPECT_TRUE(eventually([&] { return machine_clock().now() >= zero_ + time; }));
  }
  /// Ends the window; true if all lanes have read once more within `patience`.
  bool end(nanoseconds patience = fakes::kLongWait) {
    end_ = machine_clock().now();
    return window_->read_lanes(end_ + patience);
  }

  [[nodiscard]] EnergyFigure figure(unsigned gpu) const {
    return window_->figures(begin_, end_).at(gpu).figure;
  }
  /// The begin and the end of the window in the script's time.
  [[nodiscard]] Seconds began() const { return begin_ - zero_; }
  [[nodiscard]] Seconds ended() const { return end_ - zero_; }

  FakeNvml& fake() { return fake_; }
  [[nodiscard]] const Readings& readings() const { return window_->readings(); }
  void stop() { window_.reset(); }

 private:
  FakeNvml fake_;
  std::vector<std::unique_ptr<Sensor>> sensors_;
  std::unique_ptr<fakes::OneWindow> window_;
  TimePoint zero_;
  TimePoint begin_;
  TimePoint end_;
};

/// Of a GPU that draws the same power all the time.
void expect_power(const EnergyFigure& figure, Watts power) {
  ASSERT_TRUE(figure.energy);
  EXPECT_NEAR(figure.energy->si(), (power * figure.known).si(), figure.uncertainty.si());
}

/// What a GPU's script says where its counter is all there is: nothing of it can be read too late.
constexpr const char* kCounterOnly =
    "counter 5000000 step_ms 10\ninstant none\naverage none\nusage none\n";

constexpr const char* kWithCounter =
    "gpu NVIDIA H100 PCIe\npower step 0 100 0.4 300\ncounter 123456 step_ms 10\n";
constexpr const char* kWithoutCounter =
    "gpu Tesla V100-SXM2-16GB\npower step 0 150\ncounter none\n"
    "instant none\naverage none\nusage window_ms 10 update_ms 20\n";

/// A counter that is read when it is asked for.
Channel counter_of_gpu() {
  return {.domain = Domain::nvidia_gpu(0), .counter = {.tick = Joules(1.0)}};
}

TEST(ReadingsLanes, ShowAReadingThatNobodyWaitedFor) {
  const auto gate = std::make_shared<fakes::Gate>();
  std::vector<std::unique_ptr<Sensor>> sensors;
  sensors.push_back(
      std::make_unique<fakes::GatedSensor>(std::vector{counter_of_gpu()}, gate, machine_clock()));
  Readings readings(std::move(sensors), machine_clock(), {.period = 1h});
  readings.wait_for_first(machine_clock().now() + fakes::kLongWait);
  const TimePoint asked = machine_clock().now();
  gate->shut();
  const LateCapture capture = readings.ask_lanes();
  const LateCapture next = readings.ask_lanes();
  EXPECT_FALSE(readings.shown(capture, 0)) << "the driver is busy";
  EXPECT_EQ(next.lanes.at(0), nullptr) << "and is not asked again";
  gate->open();
  ASSERT_TRUE(eventually([&] { return readings.shown(capture, 0).has_value(); }));
  EXPECT_GE(readings.shown(capture, 0)->at, asked);
  EXPECT_EQ(readings.shown(capture, 0)->ticks, 1U) << "once more than at the start";
  EXPECT_FALSE(readings.shown(next, 0));
  EXPECT_FALSE(readings.shown(LateCapture(), 0)) << "nothing was asked";
  const LateCapture later = readings.ask_lanes();
  ASSERT_TRUE(eventually([&] { return readings.shown(later, 0).has_value(); }));
  EXPECT_EQ(readings.shown(capture, 0)->ticks, 1U) << "each keeps what it showed";
}

TEST(ReadingsLanes, MeasureAPhaseAsWellAsARun) {
  FakeNvml fake(
      "gpu NVIDIA H100 PCIe\ninstant none\naverage none\nusage none\ncounter 5000000 step_ms 20\n"
      "power step 0 400 0.3 100 0.5 400 0.7 100 0.9 400 1.1 100 1.3 400 1.5 100\n");
  Readings readings(nvml::probe_within(fake.system(), machine_clock(), fakes::kLongWait).sensors,
                    machine_clock());
  readings.wait_for_first(machine_clock().now() + fakes::kLongWait);
  fake.let_time_pass();
  const TimePoint zero = machine_clock().now();
  std::vector<TimePoint> times;
  std::vector<Boundary> waited_for;
  std::vector<LateCapture> asked;
  for (const nanoseconds time : {400ms, 1000ms}) {
    ASSERT_TRUE(eventually([&] { return machine_clock().now() >= zero + time; }));
    Capture capture = readings.no_capture();
    times.push_back(machine_clock().now());
    asked.push_back(readings.ask_lanes());
    ASSERT_TRUE(readings.read_lanes(capture, machine_clock().now() + fakes::kLongWait));
    ASSERT_TRUE(capture.domains.at(0).counter);
    waited_for.push_back(*capture.domains.at(0).counter);
  }
  ASSERT_TRUE(readings.read_now(machine_clock().now() + fakes::kLongWait));
  const EnergyFigure run = readings.energy(0, {times[0], times[1], waited_for[0], waited_for[1]});
  const EnergyFigure phase = readings.energy(
      0, {times[0], times[1], readings.shown(asked[0], 0), readings.shown(asked[1], 0)});
  ASSERT_TRUE(run.energy && phase.energy);
  EXPECT_NEAR(phase.energy->si(), run.energy->si(), phase.uncertainty.si() + run.uncertainty.si());
  EXPECT_LE(phase.uncertainty.si(), 1.1 * run.uncertainty.si());
  // What was asked for first is read first, so the phase knows as much of its ends as the run.
  for (const std::size_t end : {0U, 1U}) {
    const auto shown = readings.shown(asked[end], 0);
    ASSERT_TRUE(shown);
    EXPECT_GE(shown->at, times[end]);
    EXPECT_LE(shown->at, waited_for[end].at);
  }
}

TEST(ReadingsLanes, MeasureGpusOfDifferentModels) {
  ScriptedGpus gpus(std::string(kWithCounter) + kWithoutCounter);
  gpus.start();
  gpus.begin();
  gpus.wait_until(900ms);
  EXPECT_TRUE(gpus.end());

  const EnergyFigure counted = gpus.figure(0);
  EXPECT_EQ(counted.method, Method::counter);
  const double step_s = std::max(0.4, gpus.began().count());
  const double truth_j =
      100.0 * (step_s - gpus.began().count()) + 300.0 * (gpus.ended().count() - step_s);
  ASSERT_TRUE(counted.energy);
  EXPECT_NEAR(counted.energy->si(), truth_j, counted.uncertainty.si());
  EXPECT_EQ(counted.unknown, Seconds(0.0));
  EXPECT_THAT(counted.alternatives, Not(SizeIs(0)));

  const EnergyFigure integrated = gpus.figure(1);
  EXPECT_EQ(integrated.method, Method::integrated);
  expect_power(integrated, Watts(150.0));
}

TEST(ReadingsLanes, LoseOneGpuAndMeasureTheOther) {
  ScriptedGpus gpus(fmt::format(
      "gpu A\npower step 0 100\n{0}lost 0.5 1000\ngpu B\npower step 0 200\n{0}", kCounterOnly));
  gpus.start();
  gpus.begin();
  gpus.wait_until(900ms);
  EXPECT_TRUE(gpus.end());
  const EnergyFigure lost = gpus.figure(0);
  EXPECT_THAT(names(lost.flags), Contains("lost"));
  EXPECT_THAT(names(lost.flags), Contains("gap"));
  EXPECT_GT(lost.unknown, Seconds(0.2));
  const EnergyFigure untouched = gpus.figure(1);
  EXPECT_THAT(names(untouched.flags), Not(Contains("lost")));
  EXPECT_THAT(names(untouched.flags), Not(Contains("gap")));
  EXPECT_EQ(untouched.unknown, Seconds(0.0));
  expect_power(untouched, Watts(200.0));
}

TEST(ReadingsLanes, MeasureTheOthersWhileTheDriverHoldsOneGpu) {
  std::string script;
  for (int gpu = 0; gpu < 8; ++gpu) {
    script += fmt::format("gpu G{}\npower step 0 {}\n{}", gpu, 100 + gpu, kCounterOnly);
    if (gpu == 3) script += "hang * from 0.5\n";
  }
  ScriptedGpus gpus(script);
  gpus.start();
  gpus.begin();
  gpus.wait_until(600ms);
  const std::uint64_t ticks = gpus.readings().lane_ticks();
  EXPECT_TRUE(eventually([&] { return gpus.readings().lane_ticks() >= ticks + 7 * 5; }));
  const TimePoint asked = machine_clock().now();
  EXPECT_FALSE(gpus.end(300ms));
  EXPECT_GE(machine_clock().now(), asked + 300ms) << "one did not answer";

  for (unsigned gpu = 0; gpu < 8; ++gpu) {
    const EnergyFigure figure = gpus.figure(gpu);
    EXPECT_EQ(figure.flags.has(Flag::late), gpu == 3) << gpu;
    EXPECT_EQ(figure.flags.has(Flag::gap), gpu == 3) << gpu;
    expect_power(figure, Watts(100.0 + gpu));
  }
  gpus.stop();
  EXPECT_FALSE(gpus.fake().shut_down_during_call());
}

TEST(ReadingsLanes, MeasureAGaugeThatAnswersEveryOtherTime) {
  ScriptedGpus gpus(
      "gpu A\npower step 0 100\ncounter none\nusage none\n"
      "error nvmlDeviceGetFieldValues 3 every 2\n");
  gpus.start();
  gpus.begin();
  gpus.wait_until(900ms);
  (void)gpus.end();
  const EnergyFigure figure = gpus.figure(0);
  EXPECT_EQ(figure.method, Method::integrated);
  expect_power(figure, Watts(100.0));
  EXPECT_GT(figure.known, figure.unknown);
}

TEST(ReadingsLanes, SayThatAGpuShowsNoPower) {
  ScriptedGpus gpus("gpu A\npower step 0 0\n");
  gpus.start();
  gpus.begin();
  gpus.wait_until(500ms);
  (void)gpus.end();
  EXPECT_EQ(gpus.figure(0).energy, Joules(0.0));
  EXPECT_THAT(names(gpus.figure(0).flags), Contains("zero"));
}

TEST(ReadingsLanes, TakeACounterThatRestartsForAResetNotAWrap) {
  ScriptedGpus gpus(fmt::format("gpu A\npower step 0 100\n{}counter_restart 0.5\n", kCounterOnly));
  gpus.start();
  gpus.begin();
  gpus.wait_until(900ms);
  (void)gpus.end();
  const EnergyFigure figure = gpus.figure(0);
  EXPECT_EQ(figure.method, Method::counter);
  EXPECT_THAT(names(figure.flags), Contains("reset"));
  EXPECT_THAT(names(figure.flags), Not(Contains("wrapped")));
  EXPECT_GT(figure.unknown, Seconds(0.0)) << "from the last reading before it to the first after";
  expect_power(figure, Watts(100.0));
}

TEST(ReadingsLanes, AskForPowerTenTimesASecondAndForNothingElse) {
  ScriptedGpus gpus("gpu A\npower step 0 100\n");
  const auto calls = [&](const char* function) { return gpus.fake().calls(function); };
  const std::uint64_t power_before = calls(kPowerCall);
  const std::uint64_t others_before =
      calls("nvmlDeviceGetUtilizationRates") + calls("nvmlDeviceGetTemperature") +
      calls("nvmlDeviceGetMemoryInfo_v2") + calls("nvmlDeviceGetComputeRunningProcesses_v3");
  gpus.start();
  gpus.begin();
  gpus.wait_until(1s);
  (void)gpus.end();
  gpus.stop();
  const std::uint64_t power = calls(kPowerCall);
  const auto periods = static_cast<std::uint64_t>(gpus.ended() / Seconds(0.1));
  EXPECT_GT(power - power_before, 2U);
  EXPECT_LE(power - power_before, periods + 4) << "at its start and the window's ends, too";
  EXPECT_EQ(calls("nvmlDeviceGetUtilizationRates") + calls("nvmlDeviceGetTemperature") +
                calls("nvmlDeviceGetMemoryInfo_v2") +
                calls("nvmlDeviceGetComputeRunningProcesses_v3"),
            others_before);
}

TEST(ReadingsLanes, AskForNothingByThemselvesWhereThatIsWanted) {
  ScriptedGpus gpus("gpu A\npower step 0 100\ntemperature 45\n");
  gpus.start({.period = 1ms, .metrics = {Metric::temperature}, .only_when_asked = true});
  gpus.begin();
  const std::uint64_t calls = gpus.fake().calls("nvmlDeviceGetTemperature");
  const TimePoint later = machine_clock().now() + 100ms;
  EXPECT_TRUE(eventually([&] { return machine_clock().now() >= later; }));
  EXPECT_EQ(gpus.fake().calls("nvmlDeviceGetTemperature"), calls);
  gpus.begin();
  EXPECT_EQ(gpus.fake().calls("nvmlDeviceGetTemperature"), calls + 1);
}

TEST(ReadingsLanes, ReportNothingThatWasReadBeforeATime) {
  ScriptedGpus gpus("gpu A\npower step 0 100\ntemperature 45\n");
  gpus.start({.period = 1h, .metrics = {Metric::temperature}, .only_when_asked = true});
  const TimePoint before = machine_clock().now();
  gpus.begin();
  const Readings::ObservedGpu& device = gpus.readings().devices().at(0);
  for (const Metric metric : {Metric::temperature, Metric::power_average}) {
    EXPECT_TRUE(gpus.readings().latest(device, metric, before));
    EXPECT_TRUE(gpus.readings().latest(device, metric));
    EXPECT_FALSE(gpus.readings().latest(device, metric, machine_clock().now() + 1ms));
  }
  EXPECT_EQ(gpus.readings().latest(device, Metric::power_average), 100.0);
}

TEST(ReadingsLanes, AskForNothingOnceTheReadingsAreGone) {
  ScriptedGpus gpus("gpu A\npower step 0 100\n");
  gpus.start({.period = 5ms});
  gpus.begin();
  gpus.stop();
  const std::uint64_t calls = gpus.fake().calls(kPowerCall);
  const TimePoint later = machine_clock().now() + 100ms;
  EXPECT_TRUE(eventually([&] { return machine_clock().now() >= later; }));
  EXPECT_EQ(gpus.fake().calls(kPowerCall), calls);
}

TEST(ReadingsLanes, ReadLessOftenWhereTheDriverIsSlow) {
  ScriptedGpus gpus("gpu A\nlatency nvmlDeviceGetFieldValues 2 from 0.01\n");
  gpus.start({.period = 10ms, .metrics = {Metric::temperature}});
  const History& temperature = *gpus.readings().devices().at(0).gauges.at(0);
  EXPECT_EQ(temperature.channel().metric, Metric::temperature);
  ASSERT_EQ(temperature.spacing(), 100ms);
  EXPECT_TRUE(eventually([&] { return temperature.spacing() != 100ms; }));
}

TEST(ReadingsLanes, ReadWhatIsAskedForBesideThePower) {
  ScriptedGpus gpus("gpu A\npower step 0 100\nusage none\ntemperature 45\nutilization 80 30\n");
  gpus.start({.metrics = {Metric::power_instant, Metric::energy, Metric::temperature}});
  gpus.begin();
  const Readings::ObservedGpu& device = gpus.readings().devices().at(0);
  ASSERT_THAT(device.gauges, SizeIs(1)) << "energy and power are read already";
  EXPECT_EQ(gpus.readings().latest(device, Metric::temperature), 45.0);
  EXPECT_EQ(gpus.readings().latest(device, Metric::utilization), std::nullopt);
  gpus.wait_until(500ms);
  (void)gpus.end();
  EXPECT_THAT(gpus.figure(0).alternatives, SizeIs(2)) << "of counter, instant and average power";
}

TEST(ReadingsLanes, ListTheProcessesOfADevice) {
  ScriptedGpus gpus("gpu A\ngpu B\nprocess compute 1234 1000000\n");
  gpus.start({.lists_processes = true});
  const Readings::ObservedGpu& device = gpus.readings().devices().at(1);
  ASSERT_TRUE(eventually([&] { return gpus.readings().processes(device).has_value(); }));
  const std::optional<ProcessList> list = gpus.readings().processes(device);
  ASSERT_TRUE(list->processes);
  ASSERT_THAT(*list->processes, SizeIs(1));
  EXPECT_EQ(list->processes->at(0).pid, 1234);
}

TEST(ReadingsLanes, OfManyStuckDriversCostOnePatience) {
  const auto gate = std::make_shared<fakes::Gate>();
  gate->shut();
  std::vector<std::unique_ptr<Sensor>> sensors;
  constexpr unsigned kMany = 40;
  for (unsigned i = 0; i < kMany; ++i) {
    Channel channel = whole_watts();
    channel.domain = Domain::nvidia_gpu(i);
    sensors.push_back(
        std::make_unique<fakes::GatedSensor>(std::vector{channel}, gate, machine_clock()));
  }
  auto readings = std::make_unique<Readings>(std::move(sensors), machine_clock());
  ASSERT_TRUE(eventually([&] { return gate->waiting.load(); }));
  const TimePoint before = machine_clock().now();
  readings.reset();
  EXPECT_LT(machine_clock().now() - before, 4s) << "one after the other they would take 8 s";
  gate->open();
}

}  // namespace
}  // namespace wattle
