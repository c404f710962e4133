#include <gtest/gtest.h>

#include "base/files/state_folder.hpp"

namespace wattle {
namespace {

TEST(FileSystem, IsOnANetworkWhereOtherMachinesMayUseIt) {
  EXPECT_TRUE(is_network_kind(0x6969)) << "NFS";
  EXPECT_TRUE(is_network_kind(0xFF534D42)) << "SMB";
  EXPECT_TRUE(is_network_kind(0x0BD00BD0)) << "Lustre";
  EXPECT_TRUE(is_network_kind(0xAAD7AAEA)) << "PanFS";
  EXPECT_TRUE(is_network_kind(0x65735546)) << "FUSE";
  EXPECT_FALSE(is_network_kind(0xEF53)) << "ext4";
  EXPECT_FALSE(is_network_kind(0x01021994)) << "tmpfs";
}

TEST(FileSystem, IsFoundByWhatLiesOnIt) {
  EXPECT_FALSE(is_on_network("/proc/self"));
  EXPECT_FALSE(is_on_network("/nowhere")) << "not known";
}

}  // namespace
}  // namespace wattle
