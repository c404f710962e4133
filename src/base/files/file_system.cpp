#include "base/files/file_system.hpp"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>

namespace wattle {
namespace {

// Those that are not in linux/magic.h, by their own sources.
constexpr std::uint32_t kBeeGfs = 0x19830326;
constexpr std::uint32_t kGfs2 = 0x01161970;
constexpr std::uint32_t kGpfs = 0x47504653;
constexpr std::uint32_t kLustre = 0x0BD00BD0;
constexpr std::uint32_t kPanFs = 0xAAD7AAEA;

}  // namespace

bool is_network_kind(std::uint32_t kind) noexcept {
  constexpr std::array<std::uint32_t, 14> kNetworks = {AFS_SUPER_MAGIC,
                                                       CEPH_SUPER_MAGIC,
                                                       CIFS_SUPER_MAGIC,
                                                       FUSE_SUPER_MAGIC,
                                                       NFS_SUPER_MAGIC,
                                                       SMB_SUPER_MAGIC,
                                                       SMB2_SUPER_MAGIC,
                                                       OCFS2_SUPER_MAGIC,
                                                       V9FS_MAGIC,
                                                       kBeeGfs,
                                                       kGfs2,
                                                       kGpfs,
                                                       kLustre,
                                                       kPanFs};
  return std::ranges::find(kNetworks, kind) != kNetworks.end();
}

bool is_on_network(const std::filesystem::path& path) noexcept {
  struct statfs system {};
  return ::statfs(path.c_str(), &system) == 0 &&
         is_network_kind(static_cast<std::uint32_t>(system.f_type));
}

}  // namespace wattle
