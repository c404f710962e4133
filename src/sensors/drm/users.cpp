#include "sensors/drm/users.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/fd.hpp"
#include "base/file.hpp"
#include "base/parse.hpp"
#include "sensors/drm/fdinfo.hpp"

namespace wattle::drm {
namespace {

using std::chrono::nanoseconds;

/// More would take longer than 0.2 s, at 3 us each (measured in a virtual machine with two cores).
constexpr std::size_t kMostDescriptors = 65'536;

/// Reads the names in a folder one by one.
class Folder {
 public:
  Folder(int parent, const char* name) {
    Fd fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return;
    stream_.reset(::fdopendir(fd.get()));
    if (stream_) (void)fd.release();
  }
  explicit operator bool() const noexcept { return stream_ != nullptr; }
  [[nodiscard]] int fd() const noexcept { return ::dirfd(stream_.get()); }
  /// The next name that is a number; null at the end.
  [[nodiscard]] const char* next_number(int& number) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread has this stream
    while (const dirent* const entry = ::readdir(stream_.get())) {
      const auto value = parse_unsigned<unsigned>(static_cast<const char*>(entry->d_name));
      constexpr unsigned kLargest = 0x7FFFFFFF;
      if (!value || *value > kLargest) continue;
      number = static_cast<int>(*value);
      return static_cast<const char*>(entry->d_name);
    }
    return nullptr;
  }

 private:
  struct Close {
    void operator()(DIR* stream) const noexcept { ::closedir(stream); }
  };
  std::unique_ptr<DIR, Close> stream_;
};

/// Adds what one process has open. Counts the descriptors looked at.
void add_nodes(int procfs, const char* process, pid_t pid, std::vector<OpenNode>& nodes,
               std::size_t& looked_at) {
  const std::string path = std::string(process) + "/fd";
  Folder descriptors(procfs, path.c_str());
  if (!descriptors) return;  // it has ended, or is another user's
  int fd = 0;
  while (looked_at <= kMostDescriptors) {
    const char* const name = descriptors.next_number(fd);
    if (name == nullptr) return;
    ++looked_at;
    constexpr std::string_view kFolder = "/dev/dri/";
    std::array<char, 64> target;
    const ssize_t length = ::readlinkat(descriptors.fd(), name, target.data(), target.size());
    if (length <= 0) continue;
    const std::string_view link(target.data(), static_cast<std::size_t>(length));
    if (!link.starts_with(kFolder)) continue;
    nodes.push_back({.pid = pid, .fd = fd, .node = std::string(link.substr(kFolder.size()))});
  }
}

std::shared_ptr<const std::vector<OpenNode>> look(const std::filesystem::path& procfs) {
  Folder processes(AT_FDCWD, procfs.c_str());
  if (!processes) return nullptr;
  auto nodes = std::make_shared<std::vector<OpenNode>>();
  std::size_t looked_at = 0;
  int pid = 0;
  while (const char* const name = processes.next_number(pid)) {
    add_nodes(processes.fd(), name, pid, *nodes, looked_at);
    if (looked_at > kMostDescriptors) return nullptr;
  }
  std::ranges::sort(*nodes, {}, [](const OpenNode& open) { return std::tuple(open.pid, open.fd); });
  return nodes;
}

template <class T>
void add(std::optional<T>& sum, const std::optional<T>& value) {
  sum = sum && value ? std::optional(*sum + *value) : std::nullopt;
}

}  // namespace

std::shared_ptr<const std::vector<OpenNode>> OpenNodes::list(TimePoint now) {
  constexpr auto kFresh = std::chrono::milliseconds(500);
  const std::scoped_lock lock(mutex_);
  if (listed_at_ == TimePoint::min() || now - listed_at_ > kFresh) {
    nodes_ = look(procfs_);
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
    if (!text) continue;  // closed meanwhile
    const ClientUsage usage = parse_fdinfo(*text);
    if (!usage.pci_address.empty() && usage.pci_address != pci_address) continue;
    if (users.empty() || users.back().pid != one.pid) {
      users.push_back({.pid = one.pid, .memory_bytes = 0, .engine_time = nanoseconds(0)});
    }
    if (usage.client_id && !clients.insert(*usage.client_id).second) continue;
    // Without an id it may have been counted already.
    DeviceProcess& user = users.back();
    add(user.memory_bytes, usage.client_id ? usage.memory_bytes : std::nullopt);
    add(user.engine_time, usage.client_id ? usage.engine_time : std::nullopt);
  }
  return users;
}

}  // namespace wattle::drm
