#include "sensors/gpu_selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "wattle/error.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A GPU that nothing is read of.
class IdleGpu final : public Sensor {
 public:
  IdleGpu(const Domain& domain, std::string uuid, std::string pci_address, std::string model = "")
      : channels_{{.domain = domain}},
        info_{.id = std::move(uuid),
              .pci_address = std::move(pci_address),
              .model = std::move(model)} {}
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet /*wanted*/, std::span<Reading> /*readings*/) noexcept override {}
  [[nodiscard]] const DeviceInfo* device() const noexcept override { return &info_; }

 private:
  std::vector<Channel> channels_;
  DeviceInfo info_;
};

class IdleCpu final : public Sensor {
 public:
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet /*wanted*/, std::span<Reading> /*readings*/) noexcept override {}

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

/// Leaves in `found` what is selected; the names of the others.
std::vector<std::string> keep(const std::string& text, Survey& found,
                              const Variables& variables = {}) {
  const auto environment = [&](const char* name) -> const char* {
    const auto variable = variables.find(name);
    return variable == variables.end() ? nullptr : variable->second.c_str();
  };
  std::vector<std::string> left_out;
  keep_selected(GpuSelection::parse(text), found, "--gpus", AbsentGpu::fails, environment);
  for (const Domain& gpu : found.left_out) left_out.push_back(gpu.name());
  return left_out;
}

std::vector<std::string> kept_by(const std::string& text, const Variables& variables = {}) {
  Survey found = three_gpus();
  keep(text, found, variables);
  return kept(found);
}

std::string choice_error(const std::string& text, const Variables& variables = {}) {
  try {
    (void)kept_by(text, variables);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(SelectedGpus, TakesAllUnlessAnOptionChangesIt) {
  EXPECT_THAT(kept_by("all"), ElementsAre("package_0", "nvidia_gpu_0", "nvidia_gpu_1"));
}

TEST(SelectedGpus, NeverTouchesTheProcessors) {
  EXPECT_THAT(kept_by("none"), ElementsAre("package_0"));
}

TEST(SelectedGpus, TakesNumbersUuidsTheirBeginningsAndPciAddresses) {
  for (const char* name : {"1", "GPU-aa22", "GPU-aa2", "gpu-AA22", "0000:41:00.0",
                           "00000000:41:00.0", "41:00.0", "nvidia_gpu_1", " 1 "}) {
    EXPECT_THAT(kept_by(name), ElementsAre("package_0", "nvidia_gpu_1")) << name;
  }
  EXPECT_THAT(kept_by("1,0"), ElementsAre("package_0", "nvidia_gpu_0", "nvidia_gpu_1"));
}

TEST(SelectedGpus, SaysWhatItLeftOut) {
  Survey found = three_gpus();
  EXPECT_THAT(keep("0", found), ElementsAre("nvidia_gpu_1", "nvidia_gpu_2"));
  EXPECT_THAT(refused(found), IsEmpty()) << "nobody misses what was left out";
}

TEST(SelectedGpus, KeepsTheReasonOfAChosenGpuThatCannotBeRead) {
  Survey found = three_gpus();
  keep("0,1,2", found);
  EXPECT_THAT(refused(found), ElementsAre("nvidia_gpu_2: the GPU has fallen off the bus"));
}

TEST(SelectedGpus, RefusesWhatNoGpuIsCalled) {
  EXPECT_EQ(choice_error("7"),
            "--gpus: no GPU is called '7'; there are 0 (GPU-aa11), 1 (GPU-aa22), nvidia_gpu_2");
  EXPECT_THAT(choice_error("4294967296"), HasSubstr("no GPU is called"));
}

TEST(SelectedGpus, RefusesABeginningThatSeveralShare) {
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

TEST(SelectedGpus, TakesANumberThatOneVendorsGpuHas) {
  Survey found = two_vendors();
  keep("1", found);
  EXPECT_THAT(kept(found), ElementsAre("amd_gpu_1"));
}

TEST(SelectedGpus, TakesAnyVendorsGpuByDomainAndAddress) {
  Survey found = two_vendors();
  keep("amd_gpu_0,01:00.0", found);
  EXPECT_THAT(kept(found), ElementsAre("nvidia_gpu_0", "amd_gpu_0"));
}

TEST(SelectedGpus, RefusesANumberThatGpusOfSeveralVendorsHave) {
  Survey found = two_vendors();
  try {
    keep("0", found);
    FAIL() << "which of them?";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "--gpus: GPUs of several vendors have the number '0'; there are nvidia_gpu_0 "
                 "(GPU-aa11), amd_gpu_0, amd_gpu_1 (18f6)");
  }
}

TEST(VisibleGpus, AreNvidiasWhereTheyAreNumbered) {
  Survey found = two_vendors();
  keep("visible", found, {{"CUDA_VISIBLE_DEVICES", "0"}});
  EXPECT_THAT(kept(found), ElementsAre("nvidia_gpu_0"));
}

TEST(SelectedGpus, RefusesAListWithAHoleInIt) {
  for (const char* text : {"", ",", "0,,1", "0,"}) {
    EXPECT_THAT(choice_error(text), HasSubstr("use all, none, visible or a list")) << text;
  }
}

TEST(SelectedGpus, ShowsForeignBytesHarmlessly) {
  EXPECT_THAT(choice_error("\x1b[2J"), HasSubstr("\\x1b[2J"));
}

TEST(VisibleGpus, AreAllWhereNothingIsHidden) {
  EXPECT_THAT(kept_by("visible"), ElementsAre("package_0", "nvidia_gpu_0", "nvidia_gpu_1"));
}

TEST(VisibleGpus, KeepTheReasonsOfAllWhereNothingIsHidden) {
  Survey found = three_gpus();
  keep("visible", found, {});
  EXPECT_THAT(refused(found), ElementsAre("nvidia_gpu_2: the GPU has fallen off the bus"));
}

TEST(VisibleGpus, AreTheSelectionOfAllWhereNothingIsHidden) {
  const auto hidden = [](const char* name) -> const char* {
    return std::string_view(name) == "HIP_VISIBLE_DEVICES" ? "0" : nullptr;
  };
  const auto nothing = [](const char* /*name*/) -> const char* { return nullptr; };
  EXPECT_TRUE(resolved(GpuSelection::visible(), nothing).is_all());
  EXPECT_TRUE(resolved(GpuSelection::visible(), hidden).is_visible());
  EXPECT_FALSE(resolved(GpuSelection::none(), nothing).is_all());
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

Survey two_gpus(const char* first_model, const char* second_model,
                DomainKind kind = DomainKind::nvidia_gpu) {
  const bool is_amd = kind == DomainKind::amd_gpu;
  Survey found;
  found.sensors.push_back(std::make_unique<IdleGpu>(
      is_amd ? Domain::amd_gpu(0) : Domain::nvidia_gpu(0), "18f6", "0000:03:00.0", first_model));
  found.sensors.push_back(std::make_unique<IdleGpu>(
      is_amd ? Domain::amd_gpu(1) : Domain::nvidia_gpu(1), "22a7", "0000:83:00.0", second_model));
  return found;
}

std::vector<std::string> visible(Survey found, const Variables& variables) {
  keep("visible", found, variables);
  return kept(found);
}

std::string visible_error(Survey found, const Variables& variables) {
  try {
    (void)visible(std::move(found), variables);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

TEST(VisibleGpus, OfOneModelAreNumberedInTheOrderOfTheBus) {
  EXPECT_THAT(visible(two_gpus("H100", "H100"), {{"CUDA_VISIBLE_DEVICES", "1"}}),
              ElementsAre("nvidia_gpu_1"));
}

TEST(VisibleGpus, OfTwoModelsAreNumberedOnlyIfTheOrderIsThatOfTheBus) {
  EXPECT_EQ(visible_error(two_gpus("H100", "T4"), {{"CUDA_VISIBLE_DEVICES", "1"}}),
            "--gpus: the numbers in CUDA_VISIBLE_DEVICES do not say which GPUs, since their models "
            "differ; use UUIDs, or set CUDA_DEVICE_ORDER to PCI_BUS_ID");
  EXPECT_THAT(visible(two_gpus("H100", "T4"),
                      {{"CUDA_VISIBLE_DEVICES", "1"}, {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}}),
              ElementsAre("nvidia_gpu_1"));
}

TEST(VisibleGpus, OfUnknownModelsAreNotTakenToBeAlike) {
  EXPECT_THAT(visible_error(two_gpus("", ""), {{"CUDA_VISIBLE_DEVICES", "1"}}),
              HasSubstr("use UUIDs"));
}

TEST(VisibleGpus, CanBeNumberedInAnyOrderIfTheyAreAll) {
  EXPECT_THAT(visible(two_gpus("H100", "T4"), {{"CUDA_VISIBLE_DEVICES", "1,0"}}),
              ElementsAre("nvidia_gpu_0", "nvidia_gpu_1"));
  EXPECT_THAT(visible_error(two_gpus("H100", "T4"), {{"CUDA_VISIBLE_DEVICES", "1,1"}}),
              HasSubstr("use UUIDs"));
}

TEST(VisibleGpus, EndAtANumberThatNoGpuHas) {
  EXPECT_THAT(visible(two_gpus("H100", "H100"), {{"CUDA_VISIBLE_DEVICES", "0,2,1"}}),
              ElementsAre("nvidia_gpu_0"));
}

TEST(VisibleGpus, OfAmdFollowHip) {
  const Variables hip = {{"HIP_VISIBLE_DEVICES", "1"}};
  EXPECT_THAT(visible(two_gpus("MI300X", "MI300X", DomainKind::amd_gpu), hip),
              ElementsAre("amd_gpu_1"));
  EXPECT_EQ(visible_error(two_gpus("MI300X", "MI210", DomainKind::amd_gpu), hip),
            "--gpus: the numbers in HIP_VISIBLE_DEVICES do not say which GPUs, since their models "
            "differ; use UUIDs");
  EXPECT_THAT(visible(two_vendors(), {{"HIP_VISIBLE_DEVICES", "GPU-18f6"}}),
              ElementsAre("amd_gpu_1"));
}

TEST(VisibleGpus, OfHipAreCountedAmongThoseThatRocrLeaves) {
  EXPECT_THAT(visible(two_gpus("MI300X", "MI300X", DomainKind::amd_gpu),
                      {{"ROCR_VISIBLE_DEVICES", "1"}, {"HIP_VISIBLE_DEVICES", "0"}}),
              ElementsAre("amd_gpu_1"));
  EXPECT_THAT(
      visible(two_gpus("MI300X", "MI300X", DomainKind::amd_gpu), {{"ROCR_VISIBLE_DEVICES", "0"}}),
      ElementsAre("amd_gpu_0"));
}

TEST(VisibleGpus, OfAmdFollowTheVariableOfCudaWhereHipHasNone) {
  EXPECT_THAT(
      visible(two_gpus("MI300X", "MI300X", DomainKind::amd_gpu), {{"CUDA_VISIBLE_DEVICES", "0"}}),
      ElementsAre("amd_gpu_0"));
}

TEST(VisibleGpus, AreNoPartsOfThem) {
  EXPECT_THAT(choice_error("visible", {{"CUDA_VISIBLE_DEVICES", "MIG-1234"}}), HasSubstr("MIG"));
}

TEST(GpuSelections, AreEqualIfTheySelectAlike) {
  EXPECT_EQ(GpuSelection(), GpuSelection::all());
  EXPECT_EQ(GpuSelection::parse("none"), GpuSelection::none());
  EXPECT_EQ(GpuSelection::parse("visible"), GpuSelection::visible());
  EXPECT_EQ(GpuSelection({2, 0}), GpuSelection(std::vector<std::uint32_t>{2, 0}));
  EXPECT_NE(GpuSelection({0}), GpuSelection({1}));
}

TEST(GpuSelections, RefuseAnEmptyListAndANumberThatStandsTwice) {
  EXPECT_THROW((void)GpuSelection(std::vector<std::uint32_t>()), InvalidArgument);
  EXPECT_THROW((void)GpuSelection::named({}), InvalidArgument);
  EXPECT_THROW((void)GpuSelection({1, 0, 1}), InvalidArgument);
}

TEST(GpuSelections, OfWhatIsNotThereCanBeMissed) {
  std::vector<Refusal> missing;
  EXPECT_THAT(
      selected_gpus(GpuSelection::named({"7", "1"}), found_gpus(three_gpus()), "test", &missing),
      ElementsAre(Domain::nvidia_gpu(1)));
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0].subject, "GPU 7");
  EXPECT_THAT(missing[0].reason, HasSubstr("no GPU is called '7'"));
}

TEST(GpuSelections, KeepWhatIsThereAndSayWhatIsMissing) {
  Survey found = three_gpus();
  keep_selected(GpuSelection::named({"7", "1"}), found, "test", AbsentGpu::is_missing);
  EXPECT_THAT(kept(found), ElementsAre("package_0", "nvidia_gpu_1"));
  EXPECT_THAT(found.left_out, ElementsAre(Domain::nvidia_gpu(0), Domain::nvidia_gpu(2)));
  ASSERT_EQ(found.missing.size(), 1U);
  EXPECT_EQ(found.missing[0].subject, "GPU 7");
}

TEST(GpuSelections, ByNumberCountTheGpusOfAllVendors) {
  const std::vector<FoundGpu> gpus = found_gpus(two_vendors());
  EXPECT_THAT(selected_gpus({2, 0}, gpus, "test"),
              ElementsAre(Domain::amd_gpu(1), Domain::nvidia_gpu(0)));
  EXPECT_THROW((void)selected_gpus({3}, gpus, "test"), NoSuchDevice);
}

}  // namespace
}  // namespace wattle
