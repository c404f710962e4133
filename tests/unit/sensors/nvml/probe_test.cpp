// Finding GPUs: a driver that is missing, broken, slow or dead, and what is said about it.
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "fakes/temp_folder.hpp"
#include "fakes/virtual_clock.hpp"
#include "nvml_test.hpp"
#include "sensors/examination.hpp"
#include "sensors/nvml/diagnosis.hpp"

namespace wattle::nvml {
namespace {

using fakes::FakeNvml;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr auto kShort = milliseconds(100);

/// The only refusal of a survey that found nothing.
SensorRefusal sole_refusal(const Survey& survey) {
  EXPECT_THAT(survey.sensors, IsEmpty());
  EXPECT_THAT(survey.refused, SizeIs(1));
  return survey.refused.empty() ? SensorRefusal{} : survey.refused.front();
}

TEST(NvmlProbe, DescribesEachGpu) {
  const FakeNvml fake(
      "driver 535.104.05\n"
      "gpu NVIDIA H100 PCIe\n"
      "uuid GPU-aaaa\n"
      "pci 0001:a1:1f\n"
      "gpu Tesla T4\n");
  const Survey found = probe_patiently(fake);
  EXPECT_THAT(found.refused, IsEmpty());
  ASSERT_THAT(found.sensors, SizeIs(2));
  const DeviceInfo* const device = found.sensors[0]->device();
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->model, "NVIDIA H100 PCIe");
  EXPECT_EQ(device->id, "GPU-aaaa");
  EXPECT_EQ(device->pci_address, "0001:a1:1f.0");
  EXPECT_EQ(device->driver, "535.104.05");
  EXPECT_EQ(found.sensors[0]->channels()[0].domain, Domain::nvidia_gpu(0));
  EXPECT_EQ(found.sensors[1]->channels()[0].domain, Domain::nvidia_gpu(1));
  EXPECT_EQ(found.sensors[1]->device()->model, "Tesla T4");
  EXPECT_TRUE(found.sensors[0]->may_block());
}

TEST(NvmlProbe, ListsEveryGpuWhateverCudaMaySee) {
  const FakeNvml fake("gpu A\ngpu B\n");
  ::setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  EXPECT_THAT(probe_patiently(fake).sensors, SizeIs(2));
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST(NvmlProbe, CannotBeMadeToPrintControlCharacters) {
  const FakeNvml fake("gpu evil\x1b[31m\n");
  EXPECT_EQ(probe_patiently(fake).sensors.at(0)->device()->model, "evil\\x1b[31m");
}

class WithoutALibrary : public testing::Test {
 protected:
  Survey probe_default() {
    System system;
    system.sysfs = folder_.path();
    system.procfs = folder_.path();
    return probe(system, clock_, {});
  }
  static bool machine_has_library() { return bool(DynamicLibrary::open(System{}.nvml_library)); }

  fakes::TempFolder folder_;
  fakes::VirtualClock clock_;
};

TEST_F(WithoutALibrary, NothingIsAmissWhereThereIsNoKernelDriverEither) {
  if (machine_has_library()) GTEST_SKIP() << "this machine has an NVIDIA driver";
  const SensorRefusal refusal = sole_refusal(probe_default());
  EXPECT_EQ(refusal.subject, "NVIDIA GPUs");
  EXPECT_EQ(refusal.reason, "no NVIDIA GPU was found");
  EXPECT_TRUE(refusal.absent);
}

TEST_F(WithoutALibrary, ItIsMissedWhereTheKernelDriverIsLoaded) {
  if (machine_has_library()) GTEST_SKIP() << "this machine has an NVIDIA driver";
  folder_.write("driver/nvidia/version", "NVRM version: ...\n");
  const SensorRefusal refusal = sole_refusal(probe_default());
  EXPECT_FALSE(refusal.absent);
  EXPECT_THAT(refusal.reason, HasSubstr("though the kernel driver is loaded"));
  EXPECT_THAT(refusal.remedy, HasSubstr("--gpus all"));
}

TEST_F(WithoutALibrary, ItIsMissedWhereAnotherDriverRunsTheGpu) {
  if (machine_has_library()) GTEST_SKIP() << "this machine has an NVIDIA driver";
  folder_.write("module/nouveau/version", "");
  const SensorRefusal refusal = sole_refusal(probe_default());
  EXPECT_FALSE(refusal.absent);
  EXPECT_THAT(refusal.reason, HasSubstr("nouveau"));
}

TEST_F(WithoutALibrary, OneThatCannotBeOpenedIsNotTakenForAbsent) {
  System system;
  system.sysfs = folder_.path();
  system.procfs = folder_.path();
  const std::string error = "libnvidia-ml.so.1: cannot open shared object file: ";
  EXPECT_FALSE(no_library(system, error + "Too many open files").absent);
  EXPECT_TRUE(no_library(system, error + "No such file or directory").absent);
}

TEST_F(WithoutALibrary, TheOneThatWasAskedForIsMissed) {
  System system;
  system.nvml_library = "/nonexistent/libnvidia-ml.so.1";
  const SensorRefusal refusal = sole_refusal(probe(system, clock_, {}));
  EXPECT_FALSE(refusal.absent);
  EXPECT_THAT(refusal.reason, HasSubstr("/nonexistent/libnvidia-ml.so.1"));
  EXPECT_THAT(refusal.remedy, HasSubstr("WATTLE_NVML_LIBRARY"));
}

TEST_F(WithoutALibrary, NoThreadIsStarted) {
  System system;
  system.nvml_library = "/nonexistent/libnvidia-ml.so.1";
  const auto threads = [] {
    namespace fs = std::filesystem;
    return std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
  };
  const auto before = threads();
  (void)probe(system, clock_, {});
  EXPECT_EQ(threads(), before);
}

TEST_F(WithoutALibrary, AnotherLibraryDoesNotServe) {
  System system;
  system.nvml_library = "libm.so.6";
  const SensorRefusal refusal = sole_refusal(probe(system, clock_, {}));
  EXPECT_THAT(refusal.reason, HasSubstr("is no NVIDIA management library"));
  EXPECT_THAT(refusal.proof, HasSubstr("nvmlInit_v2"));
}

struct InitError {
  int code;
  const char* reason;
};

class InitFails : public testing::TestWithParam<InitError> {};

TEST_P(InitFails, WithACauseAndItsProof) {
  const FakeNvml fake("error nvmlInit_v2 " + std::to_string(GetParam().code) + "\ngpu A\n");
  const SensorRefusal refusal = sole_refusal(probe_patiently(fake));
  EXPECT_EQ(refusal.subject, "NVIDIA GPUs");
  EXPECT_THAT(refusal.reason, HasSubstr(GetParam().reason));
  EXPECT_THAT(refusal.proof, HasSubstr("(" + std::to_string(GetParam().code) + ")"));
  EXPECT_FALSE(refusal.absent);
}

INSTANTIATE_TEST_SUITE_P(Codes, InitFails,
                         testing::Values(InitError{9, "kernel driver is not loaded"},
                                         InitError{18, "of different versions"},
                                         InitError{4, "may not"},
                                         InitError{17, "the system keeps this process"},
                                         InitError{999, "the driver answers"},
                                         InitError{-5, "the driver answers"}));

TEST(NvmlProbe, FindsNothingWhereTheDriverHasNoGpu) {
  const FakeNvml fake("driver 550.1\n");
  EXPECT_EQ(sole_refusal(probe_patiently(fake)).reason, "the driver finds no GPU");
}

TEST(NvmlProbe, SaysWhyAGpuCannotBeOpenedAndReadsTheOthers) {
  const FakeNvml fake(
      "gpu A\n"
      "error nvmlDeviceGetHandleByIndex_v2 4\n"
      "gpu B\n");
  const Survey found = probe_patiently(fake);
  ASSERT_THAT(found.sensors, SizeIs(1));
  EXPECT_EQ(found.sensors[0]->device()->model, "B");
  ASSERT_THAT(found.refused, SizeIs(1));
  EXPECT_EQ(found.refused[0].subject, "nvidia_gpu_0");
  EXPECT_EQ(found.refused[0].domain, Domain::nvidia_gpu(0));
  EXPECT_THAT(found.refused[0].remedy, HasSubstr("/dev/nvidia"));
}

TEST(NvmlProbe, RefusesALostGpuAsAWhole) {
  const FakeNvml fake("gpu A\nlost 0 100\n");
  const SensorRefusal refusal = sole_refusal(probe_patiently(fake));
  EXPECT_EQ(refusal.domain, Domain::nvidia_gpu(0));
  EXPECT_EQ(refusal.reason, "the GPU has fallen off the bus");
}

TEST(NvmlProbe, RefusesAGpuThatIsLostWhileItIsExamined) {
  const FakeNvml fake("gpu A\nerror nvmlDeviceGetUtilizationRates 16\n");
  const SensorRefusal refusal = sole_refusal(probe_patiently(fake));
  EXPECT_EQ(refusal.reason, "the GPU needs a reset");
}

TEST(NvmlProbe, GivesUpOnADriverThatHangs) {
  FakeNvml fake("hang nvmlInit_v2\ngpu A\n");
  const SensorRefusal refusal = sole_refusal(probe_within(fake.system(), fake.clock(), kShort));
  EXPECT_EQ(refusal.subject, "NVIDIA GPUs");
  EXPECT_EQ(refusal.reason, "the driver did not answer within 0.1 s");
  EXPECT_FALSE(refusal.domain.has_value());
}

TEST(NvmlProbe, WaitsTwoSecondsUnlessAnOptionChangesIt) {
  EXPECT_EQ(kProbeDeadline, std::chrono::seconds(2));
}

TEST(NvmlProbe, GivesUpOnOneGpuThatHangsAndReadsTheOthers) {
  FakeNvml fake(
      "gpu A\n"
      "gpu B\n"
      "hang nvmlDeviceGetTotalEnergyConsumption\n"
      "gpu C\n");
  // Long enough for A and C on a busy machine.
  const Survey found = probe_within(fake.system(), fake.clock(), std::chrono::seconds(2));
  ASSERT_THAT(found.sensors, SizeIs(2));
  EXPECT_EQ(found.sensors[0]->device()->model, "A");
  EXPECT_EQ(found.sensors[1]->device()->model, "C");
  ASSERT_THAT(found.refused, SizeIs(1));
  EXPECT_EQ(found.refused[0].subject, "nvidia_gpu_1");
  EXPECT_EQ(found.refused[0].domain, Domain::nvidia_gpu(1));
  EXPECT_EQ(found.refused[0].reason, "the GPU did not answer within 2 s");
}

/// Waits for threads that nobody joins.
template <class Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 6000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

TEST(NvmlProbe, LeavesNvmlInitializedUntilItsLastCallIsBack) {
  FakeNvml fake(
      "gpu A\n"
      "hang nvmlDeviceGetTotalEnergyConsumption\n");
  (void)probe_within(fake.system(), fake.clock(), kShort);
  EXPECT_EQ(fake.calls("nvmlShutdown"), 0U) << "a call is out";
  EXPECT_TRUE(comes_true([&] {
    fake.release_hung();
    return fake.calls("nvmlShutdown") == 1;
  }));
  EXPECT_FALSE(fake.shut_down_during_call());
}

TEST(NvmlProbe, ShutsNvmlDownWithItsLastSensor) {
  FakeNvml fake("gpu A\ngpu B\n");
  Survey found = probe_patiently(fake);
  found.sensors.pop_back();
  EXPECT_EQ(fake.calls("nvmlShutdown"), 0U);
  found.sensors.clear();
  EXPECT_TRUE(comes_true([&] { return fake.calls("nvmlShutdown") == 1; }));
}

TEST(NvmlProbe, SurvivesADriverThatComesBackLongAfterItWasGivenUp) {
  FakeNvml fake("hang nvmlInit_v2\ngpu A\n");
  (void)probe_within(fake.system(), fake.clock(), kShort);
  EXPECT_TRUE(comes_true([&] {
    fake.release_hung();
    return fake.calls("nvmlShutdown") == 1;
  }));
  EXPECT_EQ(fake.calls("nvmlDeviceGetHandleByIndex_v2"), 0U) << "nobody asks for the GPUs any more";
}

TEST(AvailableDomains, IncludeTheGpusThatCountEnergyOrShowPower) {
  const FakeNvml fake("gpu A\ngpu B\ncounter none\ngpu C\n");
  EXPECT_THAT(available_domains(fake.system()),
              ElementsAre(Domain::nvidia_gpu(0), Domain::nvidia_gpu(1), Domain::nvidia_gpu(2)));
  EXPECT_THAT(available_domains(DomainKind::nvidia_gpu, fake.system()),
              ElementsAre(Domain::nvidia_gpu(0), Domain::nvidia_gpu(1), Domain::nvidia_gpu(2)));
  EXPECT_THAT(available_domains(DomainKind::package, fake.system()), IsEmpty());
}

TEST(AvailableDomains, OfTheProcessorAreGivenWithoutAskingADriver) {
  const FakeNvml fake("gpu A\n");
  (void)available_domains(DomainKind::package, fake.system());
  EXPECT_EQ(fake.calls("nvmlInit_v2"), 0U);
}

}  // namespace
}  // namespace wattle::nvml
