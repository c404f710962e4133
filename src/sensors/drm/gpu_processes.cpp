#include "sensors/drm/gpu_processes.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "base/files/fd.hpp"
#include "base/files/file.hpp"
#include "base/numbers/known_sum.hpp"
#include "base/text/split.hpp"
#include "sensors/drm/fdinfo.hpp"

namespace wattle::drm {
namespace {

using std::chrono::nanoseconds;

/// More would take longer than 0.2 s, at 3 us each (measured in a virtual machine with two cores).
constexpr std::size_t kMostDescriptors = 65'536;

/// Adds what one process has open. Counts the descriptors that it reads.
void add_nodes(const Fd& procfs, pid_t pid, std::vector<OpenNode>& nodes, std::size_t& looked_at) {
  const std::string folder = std::to_string(pid) + "/fd";
  // Empty for one that has ended, or is another user's.
  const std::size_t most = kMostDescriptors + 1 - looked_at;
  for (const int fd : numeric_entries(procfs.get(), folder.c_str(), most)) {
    ++looked_at;
    std::array<char, 64> target;
    const std::string path = folder + "/" + std::to_string(fd);
    const ssize_t length = ::readlinkat(procfs.get(), path.c_str(), target.data(), target.size());
    if (length <= 0) continue;
    std::string_view link(target.data(), static_cast<std::size_t>(length));
    if (!take_prefix(link, "/dev/dri/")) continue;
    nodes.push_back({.pid = pid, .fd = fd, .node = std::string(link)});
  }
}

std::shared_ptr<const std::vector<OpenNode>> scan_open_nodes(const std::filesystem::path& folder) {
  const Fd procfs(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!procfs) return nullptr;
  auto nodes = std::make_shared<std::vector<OpenNode>>();
  std::size_t looked_at = 0;
  for (const pid_t pid : numeric_entries(procfs.get(), ".")) {
    add_nodes(procfs, pid, *nodes, looked_at);
    if (looked_at > kMostDescriptors) return nullptr;
  }
  std::ranges::sort(*nodes, {}, [](const OpenNode& open) { return std::tuple(open.pid, open.fd); });
  return nodes;
}

}  // namespace

std::shared_ptr<const std::vector<OpenNode>> OpenGpuFiles::list(TimePoint now) {
  constexpr auto kFresh = std::chrono::milliseconds(500);
  const std::scoped_lock lock(mutex_);
  if (listed_at_ == TimePoint::min() || now - listed_at_ > kFresh) {
    nodes_ = scan_open_nodes(procfs_);
    listed_at_ = now;
  }
  return nodes_;
}

std::vector<DeviceProcess> users_of(std::span<const OpenNode> open,
                                    std::span<const std::string> nodes,
                                    std::string_view pci_address,
                                    const std::filesystem::path& procfs) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 10U;  // a page is enough on any GPU so far
  std::vector<DeviceProcess> users;
  std::set<std::uint64_t> clients;
  for (const OpenNode& one : open) {
    if (std::ranges::find(nodes, one.node) == nodes.end()) continue;
    const auto text =
        read_file((procfs / std::to_string(one.pid) / "fdinfo" / std::to_string(one.fd)).string(),
                  kMostBytes);
    if (!text) continue;  // closed since the listing
    const ClientUsage usage = parse_fdinfo(*text);
    if (!usage.pci_address.empty() && usage.pci_address != pci_address) continue;
    if (users.empty() || users.back().pid != one.pid) {
      users.push_back({.pid = one.pid, .memory_bytes = 0, .engine_time = nanoseconds(0)});
    }
    if (usage.client_id && !clients.insert(*usage.client_id).second) continue;
    // Without an id it may have been counted already.
    DeviceProcess& user = users.back();
    const ClientUsage added = usage.client_id ? usage : ClientUsage{};
    user.memory_bytes = known_sum(user.memory_bytes, added.memory_bytes);
    user.engine_time = known_sum(user.engine_time, added.engine_time);
  }
  return users;
}

}  // namespace wattle::drm
