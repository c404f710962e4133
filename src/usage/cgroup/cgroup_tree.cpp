#include "usage/cgroup/cgroup_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/text/parse.hpp"

namespace wattle {
namespace {

/// Groups lie at most this deep: system.slice/docker-X.scope, a slice in slices.
constexpr std::size_t kDeepestGroup = 12;
/// Folders that hold groups, and entries of all of them, are counted too.
constexpr std::size_t kMostFolders = 4096;

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

Fd open_below(const Fd& folder, const char* path, int flags) noexcept {
  return Fd(retried([&] { return ::openat(folder.get(), path, flags | O_CLOEXEC); }));
}

/// The names of the folders in a folder; empty where it cannot be read.
std::vector<std::string> folders_in(const Fd& root, const char* path) {
  std::vector<std::string> names;
  Fd fd = open_below(root, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!fd) return names;
  const std::unique_ptr<DIR, CloseFolder> folder(::fdopendir(fd.get()));
  if (!folder) return names;
  static_cast<void>(fd.release());
  // NOLINTNEXTLINE(concurrency-mt-unsafe): each thread has a folder of its own
  while (const dirent* const entry = ::readdir(folder.get())) {
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (entry->d_type == DT_DIR && name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

}  // namespace

struct CgroupTree::Walk {
  CgroupReading reading{};
  std::size_t folders = 0;
};

CgroupTree::CgroupTree(const System& system) : root_((system.sysfs / "fs/cgroup").string()) {
  const auto use = [&](const std::string& root, CgroupVersion version) {
    folder_ = Fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder_) return false;
    root_ = root;
    version_ = version;
    return true;
  };
  const std::string base = root_;
  for (const char* const controller : {"/cpu,cpuacct", "/cpuacct,cpu", "/cpuacct"}) {
    if (::access((base + controller + "/cpuacct.usage").c_str(), F_OK) != 0) continue;
    if (use(base + controller, CgroupVersion::one)) return;
  }
  for (const char* const place : {"", "/unified"}) {
    if (::access((base + place + "/cgroup.controllers").c_str(), F_OK) != 0) continue;
    if (use(base + place, CgroupVersion::two)) return;
  }
}

std::optional<std::uint64_t> parse_cpu_stat(std::string_view text) noexcept {
  const auto used = numbers_after<std::uint64_t, 1>({"usage_usec"}, text, UINT64_MAX);
  return used ? std::optional(used->front()) : std::nullopt;
}

std::optional<std::uint64_t> CgroupTree::used_us(const std::string& path) const {
  constexpr std::uint64_t kNsPerUs = 1000;
  std::array<char, 512> buffer;
  const bool is_two = version_ == CgroupVersion::two;
  // The paths start with a slash.
  const std::string file = path.substr(1) + (is_two ? "/cpu.stat" : "/cpuacct.usage");
  const Fd fd = open_below(folder_, file.c_str(), O_RDONLY);
  if (!fd) return std::nullopt;
  errno = 0;
  const std::string_view text = text_at_start(fd, buffer);
  if (is_two) return parse_cpu_stat(text);
  const auto ns = parse_counter(text);
  return ns ? std::optional(*ns / kNsPerUs) : std::nullopt;
}

// As deep as `kDeepestGroup`. NOLINTNEXTLINE(misc-no-recursion)
void CgroupTree::visit(const std::string& path, std::size_t depth, Walk& walk) const {
  if (++walk.folders > kMostFolders || depth > kDeepestGroup) {
    walk.reading.is_whole = false;
    return;
  }
  const std::string folder = path.empty() ? "." : path.substr(1);
  for (const std::string& name : folders_in(folder_, folder.c_str())) {
    std::string below = fmt::format("{}/{}", path, name);
    auto place = group_of_cgroup(below);
    if (!place) {
      visit(below, depth + 1, walk);
      continue;
    }
    if (walk.reading.times.size() >= kMostGroups) {
      walk.reading.is_whole = false;
      return;
    }
    if (const auto used = used_us(below)) {
      walk.reading.times.emplace(std::move(below), CgroupTime{std::move(place->group), *used});
    } else if (errno != ENOENT && errno != ENODEV) {
      walk.reading.is_whole = false;  // it did not go away
    }
  }
}

CgroupTree::CgroupReading CgroupTree::read() const {
  Walk walk;
  if (!folder_) return {};
  walk.reading.is_whole = true;
  visit("", 0, walk);
  return std::move(walk.reading);
}

}  // namespace wattle
