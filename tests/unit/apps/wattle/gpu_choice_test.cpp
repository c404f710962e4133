#include "gpu_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "wattle/error.hpp"

namespace wattle::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A GPU that nothing is read of.
class IdleGpu final : public Sensor {
 public:
  IdleGpu(const Domain& domain, std::string uuid, std::string pci_address)
      : channels_{{.domain = domain}},
        info_{.id = std::move(uuid), .pci_address = std::move(pci_address)} {}
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read(std::span<Reading> /*readings*/) noexcept override {}
  [[nodiscard]] const DeviceInfo* device() const noexcept override { return &info_; }

 private:
  std::vector<Channel> channels_;
  DeviceInfo info_;
};

class IdleCpu final : public Sensor {
 public:
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read(std::span<Reading> /*readings*/) noexcept override {}

 private:
  std::vector<Channel> channels_{{.domain = Domain::package(0)}};
};

/// A processor, GPUs 0 and 1 that can be read, and GPU 2 that cannot.
Survey three_gpus() {
  Survey found;
  found.sensors.push_back(std::make_unique<IdleCpu>());
  found.sensors.push_back(
      std::make_unique<IdleGpu>(Domain::nvidia_gpu(0), "GPU-aa11", "0000:01:00.0"));
  found.sensors.push_back(
      std::make_unique<IdleGpu>(Domain::nvidia_gpu(1), "GPU-aa22", "0000:41:00.0"));
  found.refused = {{.source = "nvml",
                    .subject = "nvidia_gpu_2",
                    .reason = "the GPU has fallen off the bus",
                    .domain = Domain::nvidia_gpu(2),
                    .shows = {DomainKind::nvidia_gpu}}};
  return found;
}

std::vector<std::string> kept(const Survey& found) {
  std::vector<std::string> names;
  for (const auto& sensor : found.sensors) names.push_back(sensor->channels()[0].domain.name());
  return names;
}

std::vector<std::string> refused(const Survey& found) {
  std::vector<std::string> lines;
  for (const SensorRefusal& refusal : found.refused) {
    lines.push_back(refusal.subject + ": " + refusal.reason);
  }
  return lines;
}

using Variables = std::map<std::string, std::string>;

GpuChoice choice(const std::string& text, const Variables& variables = {}) {
  return parse_gpu_choice(text, [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::vector<std::string> kept_by(const std::string& text, const Variables& variables = {}) {
  Survey found = three_gpus();
  keep_chosen(choice(text, variables), found);
  return kept(found);
}

std::string choice_error(const std::string& text, const Variables& variables = {}) {
  try {
    (void)kept_by(text, variables);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

TEST(GpuChoice, TakesAllUnlessToldOtherwise) {
  EXPECT_THAT(kept_by("all"), ElementsAre("package_0", "nvidia_gpu_0", "nvidia_gpu_1"));
}

TEST(GpuChoice, NeverTouchesTheProcessors) {
  EXPECT_THAT(kept_by("none"), ElementsAre("package_0"));
}

TEST(GpuChoice, TakesNumbersUuidsTheirBeginningsAndPciAddresses) {
  for (const char* name : {"1", "GPU-aa22", "GPU-aa2", "gpu-AA22", "0000:41:00.0",
                           "00000000:41:00.0", "41:00.0", "nvidia_gpu_1", " 1 "}) {
    EXPECT_THAT(kept_by(name), ElementsAre("package_0", "nvidia_gpu_1")) << name;
  }
  EXPECT_THAT(kept_by("1,0"), ElementsAre("package_0", "nvidia_gpu_0", "nvidia_gpu_1"));
}

TEST(GpuChoice, SaysWhatItLeftOut) {
  Survey found = three_gpus();
  keep_chosen(choice("0"), found);
  EXPECT_THAT(refused(found),
              ElementsAre("nvidia_gpu_1: left out by --gpus", "nvidia_gpu_2: left out by --gpus"));
}

TEST(GpuChoice, KeepsTheReasonOfAChosenGpuThatCannotBeRead) {
  Survey found = three_gpus();
  keep_chosen(choice("0,1,2"), found);
  EXPECT_THAT(refused(found), ElementsAre("nvidia_gpu_2: the GPU has fallen off the bus"));
}

TEST(GpuChoice, RefusesWhatNoGpuIsCalled) {
  EXPECT_EQ(choice_error("7"),
            "--gpus: no GPU is called '7'; there are 0 (GPU-aa11), 1 (GPU-aa22), nvidia_gpu_2");
  EXPECT_THAT(choice_error("4294967296"), HasSubstr("no GPU is called"));
}

TEST(GpuChoice, RefusesABeginningThatSeveralShare) {
  EXPECT_THAT(choice_error("GPU-aa"), HasSubstr("several GPUs start with 'GPU-aa'"));
}

/// NVIDIA's GPU 0, AMD's 0 and 1.
Survey two_vendors() {
  Survey found;
  found.sensors.push_back(
      std::make_unique<IdleGpu>(Domain::nvidia_gpu(0), "GPU-aa11", "0000:01:00.0"));
  found.sensors.push_back(std::make_unique<IdleGpu>(Domain::amd_gpu(0), "", "0000:03:00.0"));
  found.sensors.push_back(std::make_unique<IdleGpu>(Domain::amd_gpu(1), "18f6", "0000:83:00.0"));
  return found;
}

TEST(GpuChoice, TakesANumberThatOneVendorsGpuHas) {
  Survey found = two_vendors();
  keep_chosen(choice("1"), found);
  EXPECT_THAT(kept(found), ElementsAre("amd_gpu_1"));
}

TEST(GpuChoice, TakesAnyVendorsGpuByDomainAndAddress) {
  Survey found = two_vendors();
  keep_chosen(choice("amd_gpu_0,01:00.0"), found);
  EXPECT_THAT(kept(found), ElementsAre("nvidia_gpu_0", "amd_gpu_0"));
}

TEST(GpuChoice, RefusesANumberThatGpusOfSeveralVendorsHave) {
  Survey found = two_vendors();
  try {
    keep_chosen(choice("0"), found);
    FAIL() << "which of them?";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "--gpus: GPUs of several vendors have the number '0'; there are nvidia_gpu_0 "
                 "(GPU-aa11), amd_gpu_0, amd_gpu_1 (18f6)");
  }
}

TEST(VisibleGpus, AreNvidiasWhereTheyAreNumbered) {
  Survey found = two_vendors();
  keep_chosen(
      choice("visible", {{"CUDA_VISIBLE_DEVICES", "0"}, {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}}),
      found);
  EXPECT_THAT(kept(found), ElementsAre("nvidia_gpu_0"));
}

TEST(GpuChoice, RefusesAListWithAHoleInIt) {
  for (const char* text : {"", ",", "0,,1", "0,"}) {
    EXPECT_THAT(choice_error(text), HasSubstr("--gpus takes all, none, visible or a list")) << text;
  }
}

TEST(GpuChoice, ShowsForeignBytesHarmlessly) {
  EXPECT_THAT(choice_error("\x1b[2J"), HasSubstr("\\x1b[2J"));
}

TEST(VisibleGpus, AreAllWhereNothingIsHidden) {
  EXPECT_THAT(kept_by("visible"), ElementsAre("package_0", "nvidia_gpu_0", "nvidia_gpu_1"));
}

TEST(VisibleGpus, AreNoneWhereTheListIsEmpty) {
  for (const char* list : {"", "-1", "NoDevFiles"}) {
    EXPECT_THAT(kept_by("visible", {{"CUDA_VISIBLE_DEVICES", list}}), ElementsAre("package_0"))
        << list;
  }
}

TEST(VisibleGpus, EndAtTheFirstThatIsNone) {
  EXPECT_THAT(kept_by("visible", {{"CUDA_VISIBLE_DEVICES", "GPU-aa22,-1,GPU-aa11"}}),
              ElementsAre("package_0", "nvidia_gpu_1"));
}

TEST(VisibleGpus, CanBeNumberedOnlyInTheOrderOfTheBus) {
  EXPECT_THAT(
      kept_by("visible", {{"CUDA_VISIBLE_DEVICES", "1"}, {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}}),
      ElementsAre("package_0", "nvidia_gpu_1"));
  EXPECT_THAT(choice_error("visible", {{"CUDA_VISIBLE_DEVICES", "1"}}),
              HasSubstr("unless CUDA_DEVICE_ORDER is PCI_BUS_ID"));
}

TEST(VisibleGpus, AreNoPartsOfThem) {
  EXPECT_THAT(choice_error("visible", {{"CUDA_VISIBLE_DEVICES", "MIG-1234"}}), HasSubstr("MIG"));
}

}  // namespace
}  // namespace wattle::app
