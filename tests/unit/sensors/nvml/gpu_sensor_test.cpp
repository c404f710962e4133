// Reading GPUs in virtual time: values, faults, and GPUs that go and come back.
#include "sensors/nvml/gpu_sensor.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "nvml_test.hpp"
#include "sampling/integrate.hpp"
#include "sampling/recorder.hpp"

namespace wattle::nvml {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::SizeIs;

TEST(NvmlSensor, ReadsEveryQuantityInItsUnit) {
  Gpus gpus(
      "gpu A\n"
      "power step 0 300\n"
      "memory_power step 0 60\n"
      "limit 350 400\n"
      "utilization 80 30\n"
      "memory 80000000000 1000000000\n"
      "temperature 45\n"
      "clocks 1410 1593\n");
  gpus.at(10.0);
  EXPECT_DOUBLE_EQ(value_of(gpus[0], Metric::energy), 3000.0);
  EXPECT_DOUBLE_EQ(value_of(gpus[0], Metric::power_instant), 300.0);
  EXPECT_DOUBLE_EQ(value_of(gpus[0], Metric::power_memory, Scope::memory), 60.0);
  EXPECT_DOUBLE_EQ(value_of(gpus[0], Metric::power_limit), 350.0);
  EXPECT_DOUBLE_EQ(value_of(gpus[0], Metric::utilization), 80.0);
  EXPECT_DOUBLE_EQ(value_of(gpus[0], Metric::memory_utilization), 30.0);
  EXPECT_DOUBLE_EQ(value_of(gpus[0], Metric::memory_used), 1e9);
  EXPECT_DOUBLE_EQ(value_of(gpus[0], Metric::memory_total), 8e10);
  EXPECT_DOUBLE_EQ(value_of(gpus[0], Metric::temperature), 45.0);
  EXPECT_DOUBLE_EQ(value_of(gpus[0], Metric::clock_sm), 1.41e9);
  EXPECT_DOUBLE_EQ(value_of(gpus[0], Metric::clock_memory), 1.593e9);
}

TEST(NvmlSensor, ReadsAllOfThemAtOnceEachWithItsTime) {
  Gpus gpus("gpu A\npower step 0 300\n");
  gpus.at(2.0);
  const std::vector<Reading> readings = read_all(gpus[0]);
  EXPECT_THAT(readings, Each(Field(&Reading::status, ReadStatus::ok)));
  EXPECT_THAT(readings, Each(Field(&Reading::at, gpus.fake().clock().now())));
}

TEST(NvmlSensor, SetsWhatTheGpuHoldsItselfTo) {
  Gpus gpus("gpu A\nlimit 200 300\nleast_limit 100\nclock_range 210 1980 800 1593\n");
  for (const DeviceSetting& setting :
       {DeviceSetting(PowerLimit{100'000}), DeviceSetting(PersistenceMode{true}),
        DeviceSetting(LockedClocks{ClockKind::gpu, 210, 1980}),
        DeviceSetting(LockedClocks{ClockKind::memory, 800, 800}),
        DeviceSetting(FreeClocks{ClockKind::gpu}), DeviceSetting(FreeClocks{ClockKind::memory})}) {
    EXPECT_FALSE(gpus[0].set(setting)) << to_string(setting);
  }
  EXPECT_EQ(gpus[0].settings().power_limit_mw, 100'000U);
  EXPECT_EQ(gpus[0].settings().persistence_mode, true);
}

TEST(NvmlSensor, AsksNoDriverForWhatIsOutOfRange) {
  Gpus gpus("gpu A\nlimit 200 300\nleast_limit 100\nclock_range 210 1980 800 1593\n");
  for (const DeviceSetting& setting :
       {DeviceSetting(PowerLimit{99'999}), DeviceSetting(PowerLimit{300'001}),
        DeviceSetting(LockedClocks{ClockKind::gpu, 209, 300}),
        DeviceSetting(LockedClocks{ClockKind::gpu, 300, 250}),
        DeviceSetting(LockedClocks{ClockKind::memory, 800, 1594})}) {
    const auto failure = gpus[0].set(setting);
    ASSERT_TRUE(failure) << to_string(setting);
    EXPECT_EQ(failure->cause, SettingFailure::FailureCause::out_of_range);
  }
  EXPECT_EQ(gpus.fake().calls("nvmlDeviceSetPowerManagementLimit"), 0U);
  EXPECT_EQ(gpus.fake().calls("nvmlDeviceSetGpuLockedClocks"), 0U);
  EXPECT_EQ(gpus.fake().calls("nvmlDeviceSetMemoryLockedClocks"), 0U);
}

TEST(NvmlSensor, SaysWhyTheDriverDidNotSetIt) {
  Gpus gpus(
      "gpu A\nclock_range 210 1980 800 1593\n"
      "error nvmlDeviceSetPowerManagementLimit 4\nerror nvmlDeviceSetPersistenceMode 3\n"
      "error nvmlDeviceSetGpuLockedClocks 999\n");
  using Cause = SettingFailure::FailureCause;
  EXPECT_EQ(gpus[0].set(PowerLimit{350'000})->cause, Cause::denied);
  EXPECT_EQ(gpus[0].set(PersistenceMode{true})->cause, Cause::not_offered);
  EXPECT_EQ(gpus[0].set(LockedClocks{ClockKind::gpu, 300, 400})->cause, Cause::failed);
}

TEST(NvmlSensor, ReportsWhatTheGpuWasSetToHoldItselfTo) {
  Gpus gpus("gpu A\npower step 0 100\nlimit 200 300\npersistence on\ngpu B\nlimit none\n");
  const DeviceSettings settings = gpus[0].settings();
  EXPECT_EQ(settings.power_limit_mw, 200'000U);
  EXPECT_EQ(settings.power_limit_range_mw, std::pair(std::uint64_t{0}, std::uint64_t{300'000}));
  EXPECT_EQ(settings.persistence_mode, true);
  const DeviceSettings others = gpus[1].settings();
  EXPECT_EQ(others.power_limit_mw, std::nullopt);
  EXPECT_EQ(others.power_limit_range_mw, std::nullopt);
  EXPECT_EQ(others.persistence_mode, false);
}

TEST(NvmlSensor, DistinguishesModuleAndGpu) {
  Gpus gpus("gpu A\npower step 0 300\nmodule_power step 0 700\n");
  gpus.at(2.0);
  EXPECT_DOUBLE_EQ(value_of(gpus[0], Metric::power_instant), 300.0);
  EXPECT_DOUBLE_EQ(value_of(gpus[0], Metric::power_instant, Scope::module), 700.0);
}

TEST(NvmlSensor, ShowsPowerAsTheSensorsWindowHasIt) {
  Gpus gpus(
      "gpu A\n"
      "power step 0 100 1 500\n"
      "instant window_ms 25 update_ms 100\n"
      "average window_ms 1000 update_ms 100\n");
  gpus.at(1.05);
  EXPECT_DOUBLE_EQ(value_of(gpus[0], Metric::power_instant), 100.0) << "renewed at 1.0 s";
  gpus.at(1.10);
  EXPECT_DOUBLE_EQ(value_of(gpus[0], Metric::power_instant), 500.0);
  EXPECT_DOUBLE_EQ(value_of(gpus[0], Metric::power_average), 140.0) << "a tenth of its window";
}

class FieldTypes : public testing::TestWithParam<const char*> {};

TEST_P(FieldTypes, AreAllRead) {
  Gpus gpus(fmt::format("gpu A\npower step 0 45.5\nfield_type {}\n", GetParam()));
  EXPECT_DOUBLE_EQ(value_of(gpus[0], Metric::power_instant), 45.5);
}

INSTANTIATE_TEST_SUITE_P(Nvml, FieldTypes,
                         testing::Values("double", "uint", "ulong", "ullong", "sllong", "int",
                                         "ushort"));

TEST(NvmlSensor, KeepsAPowerOfZero) {
  Gpus gpus("gpu A\npower step 0 0\n");
  EXPECT_DOUBLE_EQ(value_of(gpus[0], Metric::power_instant), 0.0);
}

TEST(NvmlSensor, MakesOnlyTheCallsThatAreWanted) {
  Gpus gpus("gpu A\n");
  const auto calls = [&] {
    return std::vector{gpus.fake().calls("nvmlDeviceGetTotalEnergyConsumption"),
                       gpus.fake().calls("nvmlDeviceGetFieldValues"),
                       gpus.fake().calls("nvmlDeviceGetUtilizationRates"),
                       gpus.fake().calls("nvmlDeviceGetTemperature")};
  };
  const auto before = calls();
  std::vector<Reading> readings(gpus[0].channels().size());
  ChannelSet powers;
  powers.set(place_of(gpus[0], Metric::power_instant));
  powers.set(place_of(gpus[0], Metric::power_average));
  gpus[0].read_some(powers, readings);
  const auto after = calls();
  EXPECT_EQ(after[0], before[0]);
  EXPECT_EQ(after[1], before[1] + 1) << "one call for both";
  EXPECT_EQ(after[2], before[2]);
  EXPECT_EQ(after[3], before[3]);
}

TEST(NvmlSensor, LosesOnlyTheReadingsOfCallsThatFail) {
  Gpus gpus("gpu A\nerror nvmlDeviceGetTotalEnergyConsumption 3 every 2\n");
  std::vector<ReadStatus> energy;
  std::vector<ReadStatus> power;
  for (int i = 0; i < 4; ++i) {
    const std::vector<Reading> readings = read_all(gpus[0]);
    energy.push_back(readings[place_of(gpus[0], Metric::energy)].status);
    power.push_back(readings[place_of(gpus[0], Metric::power_instant)].status);
  }
  EXPECT_EQ(std::ranges::count(energy, ReadStatus::ok), 2);
  EXPECT_EQ(std::ranges::count(energy, ReadStatus::retry), 2);
  EXPECT_THAT(power, Each(ReadStatus::ok));
}

TEST(NvmlSensor, LosesOneFieldWithoutTheOthers) {
  Gpus gpus("gpu A\nerror field:186:0 999 from 1\n");
  gpus.at(2.0);
  const std::vector<Reading> readings = read_all(gpus[0]);
  EXPECT_EQ(readings[place_of(gpus[0], Metric::power_instant)].status, ReadStatus::retry);
  EXPECT_EQ(readings[place_of(gpus[0], Metric::power_average)].status, ReadStatus::ok);
}

struct Code {
  int code;
  ReadStatus status;
};

class ErrorCodes : public testing::TestWithParam<Code> {};

TEST_P(ErrorCodes, PassOrMeanThatTheGpuIsGone) {
  Gpus gpus(fmt::format("gpu A\nerror nvmlDeviceGetTemperature {} from 1\n", GetParam().code));
  gpus.at(2.0);
  EXPECT_EQ(read_one(gpus[0], Metric::temperature).status, GetParam().status);
}

INSTANTIATE_TEST_SUITE_P(Nvml, ErrorCodes,
                         testing::Values(Code{3, ReadStatus::retry}, Code{4, ReadStatus::retry},
                                         Code{10, ReadStatus::retry}, Code{999, ReadStatus::retry},
                                         Code{1234, ReadStatus::retry}, Code{1, ReadStatus::gone},
                                         Code{9, ReadStatus::gone}, Code{15, ReadStatus::gone},
                                         Code{16, ReadStatus::gone}, Code{18, ReadStatus::gone}));

TEST(LostGpu, IsGoneWithAllItsReadingsAndTheOthersAreNot) {
  Gpus gpus("gpu A\nlost 5 8\ngpu B\n");
  gpus.at(6.0);
  EXPECT_THAT(read_all(gpus[0]), Each(Field(&Reading::status, ReadStatus::gone)));
  EXPECT_THAT(read_all(gpus[1]), Each(Field(&Reading::status, ReadStatus::ok)));
}

TEST(LostGpu, IsLeftAloneAtFirst) {
  Gpus gpus("gpu A\nlost 5 8\n");
  gpus.at(6.0);
  (void)read_all(gpus[0]);
  const auto before = gpus.fake().calls("nvmlDeviceGetTotalEnergyConsumption");
  const auto looked_before = gpus.fake().calls("nvmlDeviceGetHandleByUUID");
  gpus.at(6.5);
  EXPECT_EQ(read_one(gpus[0], Metric::energy).status, ReadStatus::gone);
  EXPECT_EQ(gpus.fake().calls("nvmlDeviceGetTotalEnergyConsumption"), before);
  EXPECT_EQ(gpus.fake().calls("nvmlDeviceGetHandleByUUID"), looked_before);
}

class ReturningGpu : public testing::TestWithParam<const char*> {};

TEST_P(ReturningGpu, IsReadAgain) {
  Gpus gpus(fmt::format("gpu A\npower step 0 100\nlost 5 8 {}\n", GetParam()));
  gpus.at(6.0);
  EXPECT_EQ(read_one(gpus[0], Metric::energy).status, ReadStatus::gone);
  gpus.at(20.0);
  EXPECT_DOUBLE_EQ(value_of(gpus[0], Metric::energy), 2000.0);
  EXPECT_THAT(read_all(gpus[0]), Each(Field(&Reading::status, ReadStatus::ok)));
}

INSTANTIATE_TEST_SUITE_P(Handles, ReturningGpu, testing::Values("", "stale"));

TEST(LostGpu, IsLookedForAtEverLongerIntervalsUpToAMinute) {
  Gpus gpus("gpu A\nlost 5 100000\n");
  std::vector<double> looked_at;
  std::uint64_t looks = gpus.fake().calls("nvmlDeviceGetHandleByUUID");
  for (double time = 6.0; time < 306.0; time += 0.5) {
    gpus.at(time);
    (void)read_one(gpus[0], Metric::energy);
    const std::uint64_t now = gpus.fake().calls("nvmlDeviceGetHandleByUUID");
    if (now != looks) looked_at.push_back(time);
    looks = now;
  }
  EXPECT_THAT(looked_at, ElementsAre(7.0, 9.0, 13.0, 21.0, 37.0, 69.0, 129.0, 189.0, 249.0));
}

TEST(LostGpu, IsFoundAgainAfterSomebodyElseShutNvmlDown) {
  Gpus gpus("gpu A\npower step 0 100\n");
  const auto library = DynamicLibrary::open(gpus.fake().library_path());
  ASSERT_EQ(library.find<int()>("nvmlShutdown")(), 0);
  EXPECT_EQ(read_one(gpus[0], Metric::energy).status, ReadStatus::gone);
  gpus.at(10.0);
  EXPECT_EQ(read_one(gpus[0], Metric::energy).status, ReadStatus::ok);
}

/// By its counter, read at those times and no others.
EnergyFigure energy_over(Gpus& gpus, const std::vector<double>& times) {
  const std::shared_ptr<Sensor> sensor = std::move(gpus.take().at(0));
  Recorder recorder(sensor, ChannelSet().set(place_of(*sensor, Metric::energy)),
                    {.period = std::chrono::seconds(1)});
  const TimePoint epoch = gpus.fake().clock().now();
  for (const double time : times) {
    gpus.at(time);
    recorder.read();
  }
  const auto at = [&](double time) {
    return epoch + std::chrono::nanoseconds(std::llround(time * 1e9));
  };
  return counter_energy(recorder.histories().front(), {at(times.front()), at(times.back())});
}

TEST(GpuEnergy, IsTheIntegralOfTheGpusPower) {
  Gpus gpus("gpu A\npower linear 0 100 4 300 6 50\ncounter 987654321\n");
  const EnergyFigure figure = energy_over(gpus, {1.0, 2.0, 3.0, 8.0});
  // 150 to 300 W in 3 s, 300 to 50 W in 2 s, 50 W for 2 s.
  const double expected_j = 3.0 * 225.0 + 2.0 * 175.0 + 2.0 * 50.0;
  ASSERT_TRUE(figure.energy.has_value());
  EXPECT_NEAR(figure.energy->si(), expected_j, 0.002);
  EXPECT_EQ(figure.unknown.count(), 0.0);
  EXPECT_EQ(figure.flags, Flags());
}

TEST(GpuEnergy, OfADriverLoadedAgainIsUnknownAroundThat) {
  Gpus gpus("gpu A\npower step 0 100\ncounter 5000000\ncounter_restart 3.5\n");
  const EnergyFigure figure = energy_over(gpus, {1.0, 2.0, 3.0, 4.0, 5.0});
  EXPECT_TRUE(figure.flags.has(Flag::reset));
  EXPECT_FALSE(figure.flags.has(Flag::wrapped));
  EXPECT_EQ(figure.unknown, Seconds(1.0));
  EXPECT_NEAR(figure.energy->si(), 300.0, 0.002);
}

TEST(GpuEnergy, OfAGpuThatWasAwayIsComplete) {
  Gpus gpus("gpu A\npower step 0 100\nlost 3.2 4.5\n");
  const EnergyFigure figure = energy_over(gpus, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0});
  EXPECT_TRUE(figure.flags.has(Flag::lost));
  EXPECT_NEAR(figure.energy->si(), 500.0, 0.002) << "its counter went on";
}

TEST(GpuEnergy, IsKnownThoughEveryOtherCallFails) {
  Gpus gpus("gpu A\npower step 0 100\nerror nvmlDeviceGetTotalEnergyConsumption 3 every 2\n");
  const EnergyFigure figure = energy_over(gpus, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  // At one end of the window or the other there is a second without a value.
  EXPECT_NEAR(figure.energy->si(), 1000.0, 0.002);
  EXPECT_EQ(figure.unknown, Seconds(1.0));
}

TEST(NvmlSensor, IsReadFromSeveralThreadsAtOnce) {
  Gpus gpus("gpu A\npower step 0 100\nlost 2 3\n");
  std::atomic<bool> stop{false};
  std::atomic<int> reads{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      std::vector<Reading> readings(gpus[0].channels().size());
      while (!stop) {
        gpus[0].read(readings);
        (void)gpus[0].processes();
        ++reads;
      }
    });
  }
  while (reads < 50) std::this_thread::yield();
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(read_one(gpus[0], Metric::energy).status, ReadStatus::ok);
}

}  // namespace
}  // namespace wattle::nvml
