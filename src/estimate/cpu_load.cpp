#include "estimate/cpu_load.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/clock.hpp"
#include "base/files/file.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "sensors/proc_tables.hpp"

namespace wattle {
namespace {

namespace fs = std::filesystem;

/// A line "4:cpu,cpuacct:/path" has the controller.
bool lists_controller(std::string_view controllers, std::string_view wanted) noexcept {
  while (!controllers.empty()) {
    if (take_until(controllers, ',') == wanted) return true;
  }
  return false;
}

/// Group paths come from the kernel; one that would lead out of its tree counts as its root.
std::string safe_path(std::string_view path) {
  const bool is_safe = path.starts_with('/') && path.find("/..") == std::string_view::npos;
  return std::string(is_safe ? path : "/");
}

std::optional<double> ratio(std::optional<std::uint64_t> quota,
                            std::optional<std::uint64_t> period) noexcept {
  if (!quota || !period || *quota == 0 || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

/// Calls `visit` with the folder of `path` below `root` and with each above it, up to the root. In
/// a container the kernel may name a path that only the host sees: then its root is the
/// container's.
template <class Visit>
void each_group(const fs::path& root, std::string path, const Visit& visit) {
  for (;;) {
    visit(root / fs::path(path).relative_path());
    const std::size_t slash = path.find_last_of('/');
    if (path.size() <= 1 || slash == std::string::npos) return;
    path.resize(slash);
    if (path.empty()) path = "/";
  }
}

void keep_tightest(std::optional<CpuQuota>& tightest, std::optional<double> cpus,
                   const fs::path& usage_file, bool is_v2) {
  if (!cpus || (tightest && tightest->cpus <= *cpus)) return;
  const CpuQuota quota{.cpus = *cpus, .usage_file = usage_file, .is_v2 = is_v2};
  // A limit says nothing of a load where the group's CPU time is not known.
  if (quota.usage()) tightest = quota;
}

/// Folders that the controllers of version 1 are mounted at, by habit.
constexpr std::array<std::string_view, 2> kV1Mounts = {"cpu,cpuacct", "cpu"};

/// True for `group` itself and for what is below it.
bool lies_within(std::string_view path, const std::string& group) noexcept {
  if (group == "/") return !path.empty();
  return path.starts_with(group) && (path.size() == group.size() || path[group.size()] == '/');
}

void find_v1_quota(std::optional<CpuQuota>& tightest, const fs::path& root,
                   const CgroupPaths& paths) {
  for (const std::string_view mount : kV1Mounts) {
    each_group(root / mount, paths.v1_cpu, [&](const fs::path& folder) {
      const fs::path group = folder.lexically_relative(root / mount);
      // The group of that name in the other controller has the time of other processes, unless this
      // process is in it too.
      if (!lies_within(paths.v1_cpuacct, group == "." ? "/" : "/" + group.string())) return;
      const auto quota = read_line((folder / "cpu.cfs_quota_us").string());
      const auto period = read_line((folder / "cpu.cfs_period_us").string());
      if (!quota || !period) return;
      fs::path usage = folder / "cpuacct.usage";
      if (mount == "cpu") {
        usage = root / "cpuacct" / group / "cpuacct.usage";
      }
      keep_tightest(tightest, parse_cfs_quota(*quota, *period), usage, false);
    });
    if (tightest) return;
  }
}

}  // namespace

CgroupPaths parse_cgroup_paths(std::string_view text) {
  CgroupPaths paths;
  while (!text.empty()) {
    std::string_view path = take_line(text);
    if (std::ranges::count(path, ':') < 2) continue;
    const std::string_view hierarchy = take_until(path, ':');
    const std::string_view controllers = take_until(path, ':');
    if (hierarchy == "0" && controllers.empty()) paths.v2 = safe_path(path);
    if (lists_controller(controllers, "cpu")) paths.v1_cpu = safe_path(path);
    if (lists_controller(controllers, "cpuacct")) paths.v1_cpuacct = safe_path(path);
  }
  return paths;
}

std::optional<double> parse_cpu_max(std::string_view text) noexcept {
  std::string_view line = take_line(text);
  const auto quota = parse_unsigned<std::uint64_t>(take_word(line));
  return ratio(quota, parse_unsigned<std::uint64_t>(take_word(line)));
}

std::optional<double> parse_cfs_quota(std::string_view quota, std::string_view period) noexcept {
  return ratio(parse_counter(quota), parse_counter(period));
}

std::optional<Seconds> parse_usage(std::string_view text) noexcept {
  const auto used = numbers_after<std::uint64_t, 1>({"usage_usec"}, text, UINT64_MAX);
  if (!used) return std::nullopt;
  return std::chrono::duration<double, std::micro>(static_cast<double>(used->front()));
}

std::optional<Seconds> CpuQuota::usage() const {
  const auto text = read_file(usage_file.string());
  if (!text) return std::nullopt;
  if (is_v2) return parse_usage(*text);
  const auto used = parse_counter(*text);
  if (!used) return std::nullopt;
  return std::chrono::duration<double, std::nano>(static_cast<double>(*used));
}

std::optional<CpuQuota> read_cpu_quota(const System& system) {
  const auto text = read_file((system.procfs / "self/cgroup").string());
  if (!text) return std::nullopt;
  const CgroupPaths paths = parse_cgroup_paths(*text);
  const fs::path root = system.sysfs / "fs/cgroup";
  std::optional<CpuQuota> tightest;
  if (!paths.v2.empty()) {
    each_group(root, paths.v2, [&](const fs::path& folder) {
      const auto limit = read_file((folder / "cpu.max").string());
      if (limit) keep_tightest(tightest, parse_cpu_max(*limit), folder / "cpu.stat", true);
    });
  }
  if (!paths.v1_cpu.empty()) find_v1_quota(tightest, root, paths);
  return tightest;
}

std::optional<CpuLoad> load_between(const CpuMoment& begin, const CpuMoment& end,
                                    std::optional<double> quota) noexcept {
  const Seconds wall = end.at - begin.at;
  if (wall <= Seconds(0) || end.times.total <= begin.times.total || end.times.processors == 0) {
    return std::nullopt;
  }
  const auto total = static_cast<double>(end.times.total - begin.times.total);
  const auto passed = [&](std::uint64_t CpuTimes::*field) {
    const std::uint64_t from = std::min(begin.times.*field, end.times.*field);
    return std::min(static_cast<double>(end.times.*field - from) / total, 1.0);
  };
  CpuLoad load{.threads = static_cast<double>(end.times.processors),
               .stolen_part = passed(&CpuTimes::steal)};
  // The kernel's ticks give parts of the time; its length is that of the steady clock.
  Seconds busy = wall * load.threads * passed(&CpuTimes::busy);
  if (quota && *quota < load.threads && begin.group_usage && end.group_usage) {
    load.threads = *quota;
    load.quota = quota;
    busy = std::max(*end.group_usage - *begin.group_usage, Seconds(0));
  }
  load.available = wall * load.threads * (1.0 - load.stolen_part);
  load.busy = std::min(busy, load.available);
  return load;
}

CpuLoadReader::CpuLoadReader(const System& system)
    : system_(system), quota_(read_cpu_quota(system)) {}

std::optional<CpuMoment> CpuLoadReader::read() const {
  const auto times = ProcStat(system_).read();
  if (!times) return std::nullopt;
  return CpuMoment{.at = machine_clock().now(),
                   .times = *times,
                   .group_usage = quota_ ? quota_->usage() : std::nullopt};
}

}  // namespace wattle
