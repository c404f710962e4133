#include "usage/cgroup/cgroup_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/json/enum_table.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"

namespace wattle {
namespace {

constexpr std::size_t kUidLength = 36;
constexpr std::size_t kPlainUidLength = 32;
constexpr std::size_t kContainerDigits = 64;
constexpr std::size_t kShownDigits = 12;

constexpr std::array<std::string_view, 7> kKindNames = {
    "pod", "container", "slurm_job", "service", "scope", "user", "cgroup"};
static_assert(static_cast<std::size_t>(CgroupKind::cgroup) == kKindNames.size() - 1);

constexpr bool is_hex(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_all_digits(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

/// With four marks in it.
bool is_uid(std::string_view text) noexcept {
  constexpr std::array<std::size_t, 4> kMarks = {8, 13, 18, 23};
  if (text.size() != kUidLength) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_mark = std::ranges::find(kMarks, i) != kMarks.end();
    if (is_mark ? text[i] != '-' && text[i] != '_' : !is_hex(text[i])) return false;
  }
  return true;
}

/// "job_4711" in a folder of slurmd.
std::string_view slurm_job_in(std::string_view part) noexcept {
  return take_prefix(part, "job_") && is_all_digits(part) ? part : std::string_view();
}

/// "user-1000.slice"
std::string_view user_in(std::string_view part) noexcept {
  if (!take_prefix(part, "user-") || !part.ends_with(".slice")) return {};
  part.remove_suffix(std::string_view(".slice").size());
  return is_all_digits(part) ? part : std::string_view();
}

bool is_slurm_folder(std::string_view part) noexcept {
  if (part.ends_with(".scope")) return part.ends_with("slurmstepd.scope");
  return part.starts_with("slurm") && !part.ends_with(".service");
}

/// Folders that container engines and the kubelet make, and slurmd's of users.
bool is_folder(std::string_view part) noexcept {
  constexpr std::array<std::string_view, 9> kFolders = {
      "docker",     "kubepods",      "burstable", "besteffort",  "guaranteed",
      "containerd", "libpod_parent", "lxc",       "system.slice"};
  return std::ranges::find(kFolders, part) != kFolders.end() || part.ends_with(".slice");
}

/// The known parts above.
struct AbovePart {
  bool has_slurm = false;
  bool is_lxc = false;  ///< the next part is the name of a container
};

std::optional<CgroupGroup> group_of_part(std::string_view part, const AbovePart& above) {
  const auto named = [](CgroupKind kind, std::string_view name) {
    return CgroupGroup{kind, printable(name)};
  };
  if (const std::string_view uid = pod_uid_in(part); !uid.empty()) {
    CgroupGroup pod = named(CgroupKind::pod, uid);
    std::ranges::replace(pod.name, '_', '-');
    return pod;
  }
  if (const std::string_view number = container_number_in(part); !number.empty()) {
    return named(CgroupKind::container, number.substr(0, kShownDigits));
  }
  if (const std::string_view job = slurm_job_in(part); above.has_slurm && !job.empty()) {
    return named(CgroupKind::slurm_job, job);
  }
  if (const std::string_view user = user_in(part); !user.empty()) {
    return named(CgroupKind::user, user);
  }
  if (std::string_view name = part; above.is_lxc || take_prefix(name, "lxc.payload.")) {
    return named(CgroupKind::container, name);
  }
  if (part.ends_with(".service")) return named(CgroupKind::service, part);
  if (part.ends_with(".scope")) return named(CgroupKind::scope, part);
  return std::nullopt;
}

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

std::string_view name_of(CgroupKind kind) noexcept { return entry_of(kKindNames, kind); }

std::string_view container_number_in(std::string_view path) noexcept {
  std::size_t digits = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    digits = is_hex(path[i]) ? digits + 1 : 0;
    if (digits == kContainerDigits) return path.substr(i + 1 - kContainerDigits, kContainerDigits);
  }
  return {};
}

std::string_view pod_uid_in(std::string_view path) noexcept {
  constexpr std::string_view kPod = "pod";
  for (std::size_t at = path.find(kPod); at != std::string_view::npos;
       at = path.find(kPod, at + 1)) {
    const std::string_view rest = path.substr(at + kPod.size());
    if (is_uid(rest.substr(0, kUidLength))) return rest.substr(0, kUidLength);
    const std::string_view plain = rest.substr(0, kPlainUidLength);
    const bool is_longer = rest.size() > kPlainUidLength && is_hex(rest[kPlainUidLength]);
    if (plain.size() == kPlainUidLength && !is_longer && std::ranges::all_of(plain, is_hex)) {
      return plain;
    }
  }
  return {};
}

std::optional<CgroupPlace> group_of_cgroup(std::string_view path) {
  AbovePart above;
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::string_view part = take_until(rest, '/');
    // A reader in a cgroup namespace of its own sees "/../../a.slice".
    if (part.empty() || part == "..") continue;
    if (is_slurm_folder(part)) {
      above.has_slurm = true;
      continue;
    }
    if (auto group = group_of_part(part, above)) {
      return CgroupPlace{.group = std::move(*group), .is_below = !rest.empty()};
    }
    above.is_lxc = part == "lxc";
    if (is_folder(part) || (above.has_slurm && part.starts_with("uid_"))) continue;
    const auto end = static_cast<std::size_t>(part.data() - path.data()) + part.size();
    return CgroupPlace{.group = {CgroupKind::cgroup, printable(path.substr(0, end))},
                       .is_below = !rest.empty()};
  }
  return std::nullopt;
}

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
