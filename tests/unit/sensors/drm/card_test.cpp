#include "sensors/drm/card.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/drm_tree.hpp"

namespace wattle::drm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> domains(const Cards& cards) {
  std::vector<std::string> names;
  for (const GpuCard& card : cards.gpus) names.push_back(card.domain.name());
  return names;
}

TEST(Uevent, ReportsDriverIdsAndAddress) {
  const PciDevice device = parse_uevent(
      "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:73BF\nPCI_SLOT_NAME=0000:03:00.0\n");
  EXPECT_EQ(device.driver, "amdgpu");
  EXPECT_EQ(device.ids, "1002:73BF");
  EXPECT_EQ(device.address, "0000:03:00.0");
}

TEST(Uevent, MayReportNothing) {
  for (const char* text : {"", "\n", "DRIVER", "=", "MODALIAS=platform:simple-framebuffer\n"}) {
    const PciDevice device = parse_uevent(text);
    EXPECT_TRUE(device.driver.empty() && device.ids.empty() && device.address.empty()) << text;
  }
}

TEST(Cards, AreEachListedOnce) {
  fakes::DrmTree tree;
  tree.add_rx6800(1, "0000:03:00.0");
  const std::vector<GpuCard> cards = find_cards(tree.system()).gpus;
  ASSERT_EQ(cards.size(), 1U) << "connectors and render nodes are no cards";
  EXPECT_EQ(cards[0].name, "card1");
  EXPECT_EQ(cards[0].driver, "amdgpu");
  EXPECT_EQ(cards[0].ids, "1002:73bf");
  EXPECT_EQ(cards[0].pci_address, "0000:03:00.0");
  EXPECT_THAT(find_nodes(cards[0]), ElementsAre("card1", "renderD129"));
}

TEST(Cards, AreNumberedByPciAddressAndVendor) {
  fakes::DrmTree tree;
  tree.add_rx6800(0, "0000:83:00.0");
  tree.add_rx6800(1, "0000:03:00.0");
  tree.add_card(2, "0000:00:02.0", "i915", "8086:4680");
  tree.add_arc(3, "0000:0a:00.0");
  tree.add_rx6800(10, "10000:01:00.0");
  tree.add_card(4, "0000:05:00.0", "nvidia", "10DE:2330");
  EXPECT_THAT(domains(find_cards(tree.system())),
              ElementsAre("intel_gpu_0", "amd_gpu_0", "intel_gpu_1", "amd_gpu_1", "amd_gpu_2"));
}

TEST(Cards, AreIntegratedOnTheProcessorsOwnBus) {
  fakes::DrmTree tree;
  tree.add_card(0, "0000:00:02.0", "xe", "8086:7D55");
  tree.add_arc(1, "0000:03:00.0");
  const std::vector<GpuCard> cards = find_cards(tree.system()).gpus;
  EXPECT_TRUE(cards.at(0).is_integrated_intel());
  EXPECT_FALSE(cards.at(1).is_integrated_intel());
}

TEST(Cards, AreNoGpusWithoutAPciAddress) {
  fakes::DrmTree tree;
  tree.add_card(0, "amdgpu_xcp_1", "amdgpu", "");
  tree.write(0, "uevent", "DRIVER=amdgpu\nMODALIAS=platform:amdgpu_xcp\n");
  EXPECT_THAT(find_cards(tree.system()).gpus, IsEmpty()) << "a part of another card";
}

TEST(Cards, AreNoneWhereThereIsNoTree) {
  System system;
  system.sysfs = "/no/such/folder";
  EXPECT_THAT(find_cards(system).gpus, IsEmpty());
  EXPECT_THAT(find_cards(system).others, IsEmpty());
}

TEST(Hwmon, IsThatOfTheWholeDevice) {
  fakes::DrmTree tree;
  tree.add_arc(0, "0000:03:00.0");
  EXPECT_EQ(find_hwmon(find_cards(tree.system()).gpus.at(0)).filename(), "hwmon4")
      << "not i915_gt0's";
  tree.remove(0, fakes::DrmTree::hwmon(0));
  EXPECT_TRUE(find_hwmon(find_cards(tree.system()).gpus.at(0)).empty());
}

}  // namespace
}  // namespace wattle::drm
