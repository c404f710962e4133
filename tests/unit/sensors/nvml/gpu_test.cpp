// What a GPU is found to have: decided by what its driver answers, call by call.
#include "sensors/nvml/gpu.hpp"

#include <fmt/format.h>

#include "nvml_test.hpp"

namespace wattle::nvml {
namespace {

using fakes::NvmlBuild;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<Metric> metrics(const Sensor& sensor) {
  std::vector<Metric> metrics;
  for (const Channel& channel : sensor.channels()) metrics.push_back(channel.metric);
  return metrics;
}

TEST(NvmlGpu, OffersWhatItsDriverAnswers) {
  Gpus gpus("gpu NVIDIA H100 PCIe\nmemory_power step 0 40\n");
  EXPECT_THAT(metrics(gpus[0]),
              ElementsAre(Metric::energy, Metric::power_instant, Metric::power_average,
                          Metric::power_memory, Metric::power_limit, Metric::utilization,
                          Metric::memory_utilization, Metric::memory_used, Metric::memory_total,
                          Metric::temperature, Metric::clock_sm, Metric::clock_memory));
  EXPECT_THAT(gpus.refused(), IsEmpty());
}

TEST(NvmlGpu, CountsEnergyInMillijoulesThatNeverWrap) {
  Gpus gpus("gpu A\nlimit 350 400\n");
  const Channel& energy = channel_of(gpus[0], Metric::energy);
  EXPECT_EQ(energy.counter.tick, Joules(1e-3));
  EXPECT_EQ(energy.counter.modulus, 0U) << "a lower value is a driver loaded anew";
  EXPECT_TRUE(energy.update.known());
  EXPECT_TRUE(energy.counts_energy());
}

TEST(NvmlGpu, CannotDrawMoreThanTwiceTheLimitOfItsBoard) {
  Gpus gpus("gpu A\nlimit 350 400\ngpu B\nlimit none\ngpu C\nlimit 0 0\n");
  const auto max_power = [&](std::size_t gpu) {
    return channel_of(gpus[gpu], Metric::energy).counter.max_power;
  };
  EXPECT_EQ(max_power(0), Watts(800.0));
  EXPECT_EQ(max_power(1), Watts(5000.0)) << "no limit is stated";
  EXPECT_EQ(max_power(2), Watts(5000.0)) << "a limit of nothing is none";
}

TEST(NvmlGpu, WithoutPowerFieldsFallsBackToTheOldFunction) {
  Gpus gpus("gpu A\ninstant none\naverage none\n");
  const Sensor& sensor = gpus[0];
  ASSERT_TRUE(has(sensor, Metric::power_instant));
  EXPECT_EQ(channel_of(sensor, Metric::power_instant).place, "nvmlDeviceGetPowerUsage");
}

TEST(NvmlGpu, WithAPowerFieldDoesNotAskTheOldFunction) {
  Gpus gpus("gpu A\naverage none\n");
  EXPECT_TRUE(has(gpus[0], Metric::power_instant));
  EXPECT_FALSE(has(gpus[0], Metric::power_average));
  EXPECT_EQ(gpus.fake().calls("nvmlDeviceGetPowerUsage"), 0U);
}

/// The old function means one or the other, depending on board and driver.
TEST(NvmlGpu, ReportsWhatTheOldFunctionMeans) {
  const auto metric_of = [](const char* board, const char* driver) {
    Gpus gpus(fmt::format("driver {}\ngpu {}\ninstant none\naverage none\n", driver, board));
    return has(gpus[0], Metric::power_average) ? Metric::power_average : Metric::power_instant;
  };
  EXPECT_EQ(metric_of("NVIDIA GeForce RTX 3090", "525.60"), Metric::power_average);
  EXPECT_EQ(metric_of("NVIDIA GeForce RTX 3090", "530.30"), Metric::power_instant);
  EXPECT_EQ(metric_of("Tesla V100-SXM2-16GB", "525.60"), Metric::power_instant);
  EXPECT_EQ(metric_of("a board that nobody knows", "525.60"), Metric::power_instant);
}

TEST(NvmlGpu, KnowsBeforehandHowTheSensorsOfItsBoardLook) {
  Gpus gpus("gpu NVIDIA H100 PCIe\ngpu NVIDIA B200\n");
  const Channel& known = channel_of(gpus[0], Metric::power_instant);
  EXPECT_EQ(known.gauge.window, milliseconds(25));
  EXPECT_EQ(known.gauge.coverage, 0.25);
  EXPECT_EQ(known.update.mean, milliseconds(100));
  const Channel& unknown = channel_of(gpus[1], Metric::power_instant);
  EXPECT_FALSE(unknown.gauge.window.has_value());
  EXPECT_FALSE(unknown.gauge.coverage.has_value());
  EXPECT_FALSE(unknown.update.known());
}

TEST(NvmlGpu, KeepsThePowerOfItsModuleApart) {
  Gpus gpus("gpu A\npower step 0 300\nmodule_power step 0 700\n");
  const Sensor& sensor = gpus[0];
  ASSERT_TRUE(has(sensor, Metric::power_instant, Scope::module));
  EXPECT_FALSE(channel_of(sensor, Metric::power_instant, Scope::module).gives_energy());
  EXPECT_TRUE(channel_of(sensor, Metric::power_instant).gives_energy());
  EXPECT_FALSE(shows_module_power_alone(sensor.channels()));
}

TEST(NvmlGpu, WithPowerOfTheModuleAloneHasNoneOfItsOwn) {
  Gpus gpus(
      "gpu A\ncounter none\nusage none\nmodule_power step 0 700\n"
      "error field:186:0 3\nerror field:185:0 3\n");
  const Sensor& sensor = gpus[0];
  EXPECT_TRUE(has(sensor, Metric::power_instant, Scope::module));
  EXPECT_FALSE(has(sensor, Metric::power_instant));
  ASSERT_THAT(gpus.refused(), SizeIs(1));
  EXPECT_EQ(gpus.refused()[0].domain, Domain::nvidia_gpu(0));
  EXPECT_THAT(gpus.refused()[0].reason, HasSubstr("only the power of the whole module"));
  EXPECT_TRUE(shows_module_power_alone(sensor.channels()));
}

TEST(NvmlGpu, IsNotTakenForItsMemoryByADriverThatIgnoresScopes) {
  Gpus gpus("gpu A\npower step 0 300\nignores_scope\n");
  const Sensor& sensor = gpus[0];
  EXPECT_TRUE(has(sensor, Metric::power_average));
  EXPECT_FALSE(has(sensor, Metric::power_memory, Scope::memory));
  EXPECT_FALSE(has(sensor, Metric::power_instant, Scope::module));
}

TEST(NvmlGpu, OfAGraceHopperCountsTheModulesEnergyWhichIsNotItsOwn) {
  Gpus gpus("gpu NVIDIA GH200 480GB\n");
  const Sensor& sensor = gpus[0];
  ASSERT_TRUE(has(sensor, Metric::energy, Scope::module));
  EXPECT_FALSE(has(sensor, Metric::energy));
  EXPECT_THAT(gpus.refused_subjects(), ElementsAre("nvidia_gpu_0 energy"));
  EXPECT_FALSE(gpus.refused()[0].domain.has_value()) << "its power is there to be added up";
}

TEST(NvmlGpu, WithoutCounterAndPowerIsRefusedButReportsTheRest) {
  Gpus gpus("gpu A\ncounter none\ninstant none\naverage none\nusage none\n");
  EXPECT_TRUE(has(gpus[0], Metric::temperature));
  ASSERT_THAT(gpus.refused(), SizeIs(1));
  EXPECT_EQ(gpus.refused()[0].domain, Domain::nvidia_gpu(0));
  EXPECT_THAT(gpus.refused()[0].reason, HasSubstr("neither its energy nor its power"));
}

TEST(NvmlGpu, GivesOneReasonForAllThatIsMissingAlike) {
  Gpus gpus("gpu A\ncounter none\ntemperature none\nerror nvmlDeviceGetClockInfo 4\n");
  EXPECT_THAT(gpus.refused_subjects(), ElementsAre("nvidia_gpu_0 energy, temperature",
                                                   "nvidia_gpu_0 clock_sm, clock_memory"));
  EXPECT_EQ(gpus.refused()[0].reason, "this GPU, or its driver, does not offer it");
  EXPECT_THAT(gpus.refused()[0].proof, HasSubstr("nvmlDeviceGetTotalEnergyConsumption: "));
  EXPECT_THAT(gpus.refused()[1].reason, HasSubstr("may not"));
}

TEST(NvmlGpu, InMigModeSaysThatItsUtilizationIsNotToBeHad) {
  Gpus gpus("gpu A\nmig on\n");
  EXPECT_THAT(gpus.refused_subjects(), ElementsAre("nvidia_gpu_0 utilization, memory_utilization"));
  EXPECT_THAT(gpus.refused()[0].reason, HasSubstr("with MIG on"));
  EXPECT_TRUE(has(gpus[0], Metric::energy));
}

TEST(NvmlGpu, OfAnOldLibraryHasWhatThatLibraryHas) {
  Gpus gpus("gpu Tesla K80\n", NvmlBuild::old);
  const Sensor& sensor = gpus[0];
  EXPECT_THAT(metrics(sensor),
              ElementsAre(Metric::power_instant, Metric::power_limit, Metric::utilization,
                          Metric::memory_utilization, Metric::memory_used, Metric::memory_total,
                          Metric::temperature, Metric::clock_sm, Metric::clock_memory));
  EXPECT_THAT(gpus.refused_subjects(), ElementsAre("nvidia_gpu_0 energy"));
  EXPECT_EQ(gpus.refused()[0].reason, "the NVIDIA driver is too old to offer it");
  EXPECT_EQ(gpus.refused()[0].remedy, "update the driver");
  EXPECT_EQ(sensor.device()->pci_address, "") << "not known";
}

TEST(NvmlGpu, KeepsWhatFailsOnlyNowAndThen) {
  Gpus gpus("gpu A\nerror * 3 every 2\nerror field:186:0 3 every 2\n");
  const Sensor& sensor = gpus[0];
  EXPECT_TRUE(has(sensor, Metric::energy));
  EXPECT_TRUE(has(sensor, Metric::power_instant));
  EXPECT_TRUE(has(sensor, Metric::utilization));
  EXPECT_TRUE(has(sensor, Metric::clock_memory));
  EXPECT_THAT(gpus.refused(), IsEmpty());
}

TEST(NvmlGpu, MarksCallsThatTakeLongAsCostly) {
  Gpus gpus("gpu A\nlatency nvmlDeviceGetTotalEnergyConsumption 5\n");
  const Sensor& sensor = gpus[0];
  EXPECT_TRUE(channel_of(sensor, Metric::energy).costly);
  EXPECT_FALSE(channel_of(sensor, Metric::power_instant).costly);
}

}  // namespace
}  // namespace wattle::nvml
