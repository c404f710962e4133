#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <memory>

#include "base/clock.hpp"
#include "fakes/drm_tree.hpp"
#include "sensors/drm/drm.hpp"

namespace wattle::drm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> found(const Survey& survey) {
  std::vector<std::string> names;
  for (const auto& sensor : survey.sensors) {
    names.push_back(sensor->channels()[0].domain.name() + " " + sensor->device()->pci_address);
  }
  return names;
}

Survey survey_of(const fakes::DrmTree& tree) {
  return probe(tree.system(), machine_clock(), std::set<Domain>());
}

TEST(DrmProbe, MakesASensorOfEachGpu) {
  fakes::DrmTree tree;
  tree.add_rx6800(1, "0000:83:00.0");
  tree.add_rx6800(2, "0000:03:00.0");
  tree.add_arc(0, "0000:0a:00.0");
  const Survey survey = survey_of(tree);
  EXPECT_THAT(found(survey), ElementsAre("amd_gpu_0 0000:03:00.0", "intel_gpu_0 0000:0a:00.0",
                                         "amd_gpu_1 0000:83:00.0"))
      << "two of the same model";
  EXPECT_THAT(survey.refused, IsEmpty());
}

TEST(DrmProbe, FindsNothingAmissWithoutGpus) {
  const fakes::DrmTree tree;
  const Survey survey = survey_of(tree);
  ASSERT_EQ(survey.refused.size(), 1U);
  EXPECT_TRUE(survey.refused[0].absent);
  EXPECT_EQ(survey.refused[0].scope, RefusalScope::interface);
  EXPECT_THAT(survey.refused[0].proof, HasSubstr("holds no cards"));
}

TEST(DrmProbe, SaysThatCardsCannotBeListed) {
  const fakes::DrmTree tree;
  std::filesystem::remove_all(tree.system().sysfs / "class/drm");
  std::filesystem::create_directories(tree.system().sysfs / "class");
  std::ofstream(tree.system().sysfs / "class/drm") << "no folder";
  const Survey survey = survey_of(tree);
  ASSERT_EQ(survey.refused.size(), 1U);
  EXPECT_FALSE(survey.refused[0].absent) << "there may be some";
  EXPECT_EQ(survey.refused[0].scope, RefusalScope::interface);
  EXPECT_THAT(survey.refused[0].proof, HasSubstr("class/drm: Not a directory"));
}

TEST(DrmProbe, SaysThatACardIsUnknown) {
  fakes::DrmTree tree;
  tree.add_rx6800(0, "0000:03:00.0");
  tree.add_rx6800(1, "0000:83:00.0");
  tree.remove(1, "uevent");
  std::filesystem::create_directory(tree.device(1) / "uevent");  // as unreadable as can be
  const Survey survey = survey_of(tree);
  EXPECT_THAT(found(survey), ElementsAre("amd_gpu_0 0000:03:00.0"));
  ASSERT_EQ(survey.refused.size(), 1U);
  EXPECT_FALSE(survey.refused[0].absent);
  EXPECT_EQ(survey.refused[0].subject, "card1");
  EXPECT_THAT(survey.refused[0].proof, HasSubstr("uevent: Is a directory"));
}

TEST(DrmProbe, AnUnknownCardMayBeAGpuThatATotalLacks) {
  fakes::DrmTree tree;
  tree.add_rx6800(0, "0000:03:00.0");
  tree.remove(0, "uevent");
  std::filesystem::create_directory(tree.device(0) / "uevent");
  const Survey survey = survey_of(tree);
  ASSERT_EQ(survey.refused.size(), 1U);
  EXPECT_THAT(survey.refused[0].hidden.kinds, ElementsAre(DomainKind::amd_gpu));
}

TEST(DrmProbe, FindsNothingAmissWithAnotherVendorsGpu) {
  fakes::DrmTree tree;
  tree.add_card(0, "0000:05:00.0", "nvidia", "10DE:2330");
  tree.add_card(1, "0000:06:00.0", "ast", "1A03:2000");
  const Survey survey = survey_of(tree);
  ASSERT_EQ(survey.refused.size(), 1U);
  EXPECT_TRUE(survey.refused[0].absent);
  EXPECT_THAT(survey.refused[0].proof, HasSubstr("card0 (nvidia), card1 (ast)"));
}

TEST(DrmProbe, FindsNothingAmissWithAGpuInsideTheProcessor) {
  fakes::DrmTree tree;
  tree.add_card(0, "0000:00:02.0", "i915", "8086:4680");
  const Survey survey = survey_of(tree);
  EXPECT_THAT(survey.sensors, IsEmpty());
  ASSERT_EQ(survey.refused.size(), 1U);
  EXPECT_TRUE(survey.refused[0].absent);
  EXPECT_EQ(survey.refused[0].subject, "intel_gpu_0 energy");
  EXPECT_THAT(survey.refused[0].remedy, HasSubstr("uncore_N"));
}

TEST(AvailableDomains, IncludeTheGpusOfIntelAndThoseOfAmdThatShowPowerAlone) {
  fakes::DrmTree tree;
  tree.add_rx6800(0, "0000:03:00.0");
  tree.add_arc(1, "0000:04:00.0");
  EXPECT_THAT(available_domains(DomainKind::intel_gpu, tree.system()),
              ElementsAre(Domain::intel_gpu(0)));
  EXPECT_THAT(available_domains(DomainKind::amd_gpu, tree.system()),
              ElementsAre(Domain::amd_gpu(0)));
  EXPECT_THAT(available_domains(tree.system()),
              ElementsAre(Domain::amd_gpu(0), Domain::intel_gpu(0)));
}

TEST(DrmProbe, RefusesAnAmdGpuOfAnotherDriver) {
  fakes::DrmTree tree;
  tree.add_card(0, "0000:01:00.0", "radeon", "1002:6779");
  tree.add_card(1, "0000:02:00.0", "", "8086:56A0");
  const Survey survey = survey_of(tree);
  ASSERT_EQ(survey.refused.size(), 2U);
  EXPECT_FALSE(survey.refused[0].absent);
  EXPECT_EQ(survey.refused[0].reason, "its driver, radeon, reports no energy");
  EXPECT_THAT(survey.refused[0].remedy, HasSubstr("amdgpu"));
  EXPECT_EQ(survey.refused[1].reason, "this GPU has no driver");
  EXPECT_FALSE(survey.refused[1].hidden.kinds.empty()) << "a total lacks it";
}

TEST(DrmProbe, DoesNotLetOneGpuHideAnother) {
  fakes::DrmTree tree;
  tree.add_rx6800(0, "0000:03:00.0");
  tree.add_rx6800(1, "0000:83:00.0");
  tree.write_hwmon(0, "power1_average", "garbage\n");
  const Survey survey = survey_of(tree);
  EXPECT_EQ(survey.sensors.size(), 2U) << "the first still has a load and memory";
  ASSERT_EQ(survey.refused.size(), 1U);
  EXPECT_EQ(survey.refused[0].domain, Domain::amd_gpu(0));
}

TEST(DrmProbe, DoesNotWaitForADriverBeyondItsDeadline) {
  fakes::DrmTree tree;
  tree.add_rx6800(0, "0000:03:00.0");
  tree.add_rx6800(1, "0000:83:00.0");
  const auto stuck = std::make_shared<std::promise<void>>();
  const auto examine_card = [stuck](const GpuCard& card) {
    if (card.name == "card0") stuck->get_future().wait();
    return examine(card);
  };
  const Survey survey =
      probe_within(tree.system(), machine_clock(), std::chrono::milliseconds(200), examine_card);
  stuck->set_value();
  EXPECT_THAT(found(survey), ElementsAre("amd_gpu_1 0000:83:00.0"));
  ASSERT_EQ(survey.refused.size(), 1U);
  EXPECT_EQ(survey.refused[0].domain, Domain::amd_gpu(0));
  EXPECT_EQ(survey.refused[0].reason, "the GPU did not answer within 0.2 s");
}

}  // namespace
}  // namespace wattle::drm
