#include "rank_paths.hpp"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

// Those of file systems outside of the kernel's tree, by their own sources.
constexpr std::uint32_t kBeeGfs = 0x19830326;
constexpr std::uint32_t kGpfs = 0x47504653;
constexpr std::uint32_t kLustre = 0x0BD00BD0;
constexpr std::uint32_t kPanFs = 0xAAD7AAEA;

/// False where it is not known.
bool is_on_network(const std::string& path) {
  constexpr std::array kNetworks = {static_cast<std::uint32_t>(AFS_SUPER_MAGIC),
                                    static_cast<std::uint32_t>(CEPH_SUPER_MAGIC),
                                    static_cast<std::uint32_t>(CIFS_SUPER_MAGIC),
                                    static_cast<std::uint32_t>(FUSE_SUPER_MAGIC),
                                    static_cast<std::uint32_t>(NFS_SUPER_MAGIC),
                                    static_cast<std::uint32_t>(OCFS2_SUPER_MAGIC),
                                    static_cast<std::uint32_t>(SMB2_SUPER_MAGIC),
                                    static_cast<std::uint32_t>(V9FS_MAGIC),
                                    kBeeGfs,
                                    kGpfs,
                                    kLustre,
                                    kPanFs};
  const std::string folder =
      std::filesystem::path(resolved_output_path(path)).parent_path().string();
  struct statfs system {};
  if (::statfs(folder.empty() ? "." : folder.c_str(), &system) != 0) return false;
  return std::ranges::find(kNetworks, static_cast<std::uint32_t>(system.f_type)) != kNetworks.end();
}

bool has_placeholder(std::string_view path, char letter) noexcept {
  for (std::size_t at = path.find('%'); at != std::string_view::npos && at + 1 < path.size();
       at = path.find('%', at + 2)) {
    if (path[at + 1] == letter) return true;
  }
  return false;
}

/// True if more than one is known: rank 1 means that there is a rank 0 too.
bool are_several(const std::optional<unsigned>& size,
                 const std::optional<unsigned>& rank) noexcept {
  return size.value_or(1) > 1 || rank.value_or(0) > 0;
}

}  // namespace

bool is_shared_by_ranks(std::string_view path, const Job& job, bool on_every_machine) noexcept {
  if (has_placeholder(path, 'r') || has_placeholder(path, 'p')) return false;
  if (are_several(job.local_size, job.local_rank)) return true;
  return on_every_machine && !has_placeholder(path, 'h') && are_several(job.size, job.rank);
}

void require_own_folder(std::string_view what, std::string_view path, const std::string& expanded,
                        const Job& job) {
  if (!is_shared_by_ranks(path, job, is_on_network(expanded))) return;
  throw InvalidArgument(
      fmt::format("{} names one folder for several ranks: {}; put %r, the rank, into the name",
                  what, printable(path)));
}

void require_own_file(std::string_view what, std::string_view path, const std::string& expanded,
                      const Job& job) {
  struct stat status {};
  if (::stat(expanded.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return;
  if (!is_shared_by_ranks(path, job, is_on_network(expanded))) return;
  throw InvalidArgument(
      fmt::format("{} names one file for several ranks: {}; put %r, the rank, into the name", what,
                  printable(path)));
}

}  // namespace wattle::app
