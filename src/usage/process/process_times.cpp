#include "usage/process/process_times.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/cpu_time.hpp"
#include "base/files/file.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "usage/cgroup/cgroup_tree.hpp"
#include "usage/process/procfs.hpp"

namespace wattle {
namespace {

std::string folder_of(const System& system, pid_t pid) {
  return (system.procfs / std::to_string(pid)).string();
}

/// The path of a line "4:cpu,cpuacct:/a" or "0::/a"; empty where the line is of something else.
std::string_view cpu_group_in(std::string_view line) noexcept {
  if (std::ranges::count(line, ':') < 2) return {};
  take_until(line, ':');
  const std::string_view controllers = take_until(line, ':');
  const bool is_cpus = controllers.empty() || controllers == "cpu" ||
                       controllers == "cpu,cpuacct" || controllers == "cpuacct,cpu";
  return is_cpus ? line : std::string_view();
}

}  // namespace

std::vector<ProcessTimes> read_process_times(const System& system) {
  const Procfs procfs(system, 0);
  std::vector<ProcessTimes> times;
  for (const pid_t pid : procfs.processes()) {
    auto stat = procfs.read_stat(pid);
    if (!stat) continue;
    times.push_back({.pid = pid,
                     .start_time = stat->start_time,
                     .name = std::move(stat->name),
                     .ticks = stat->user + stat->system});
  }
  std::ranges::sort(times, {}, &ProcessTimes::pid);
  return times;
}

std::vector<ProcessUse> uses_between(const std::vector<ProcessTimes>& before,
                                     const std::vector<ProcessTimes>& after) {
  std::vector<ProcessUse> uses;
  if (before.empty()) return uses;
  const std::uint64_t newest =
      std::ranges::max_element(before, {}, &ProcessTimes::start_time)->start_time;
  for (const ProcessTimes& now : after) {
    const auto was = std::ranges::lower_bound(before, now.pid, {}, &ProcessTimes::pid);
    const bool is_same =
        was != before.end() && was->pid == now.pid && was->start_time == now.start_time;
    // It could not be read then: how much of it was before is not known.
    if (!is_same && now.start_time < newest) continue;
    const std::uint64_t from = is_same ? std::min(was->ticks, now.ticks) : 0;
    if (now.ticks == from) continue;
    uses.push_back({.pid = now.pid, .name = now.name, .cpu = ClockTicks(now.ticks - from)});
  }
  std::ranges::stable_sort(uses, std::ranges::greater(), &ProcessUse::cpu);
  return uses;
}

std::string UserNames::of(const System& system, pid_t pid) {
  struct stat folder {};
  if (::stat(folder_of(system, pid).c_str(), &folder) != 0) return std::string(kUnknown);
  const auto known = names_.find(folder.st_uid);
  if (known != names_.end()) return known->second;
  std::array<char, 4096> buffer;
  passwd entry{};
  passwd* found = nullptr;
  const int error = ::getpwuid_r(folder.st_uid, &entry, buffer.data(), buffer.size(), &found);
  std::string number = std::to_string(folder.st_uid);
  if (error != 0) return number;  // the next time it may have a name
  return names_[folder.st_uid] = found == nullptr ? std::move(number) : printable(found->pw_name);
}

std::string cgroup_of(const System& system, pid_t pid) {
  const auto text = read_file(folder_of(system, pid) + "/cgroup");
  if (!text) return std::string(kUnknown);
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::string_view path = cpu_group_in(take_line(rest));
    if (path.size() > 1) return printable(path, path.size());
  }
  return "/";
}

std::string container_in(std::string_view cgroup) {
  constexpr std::size_t kShown = 12;
  return std::string(container_number_in(cgroup).substr(0, kShown));
}

std::string pod_in(std::string_view cgroup) {
  constexpr std::size_t kShown = 8;
  return std::string(pod_uid_in(cgroup).substr(0, kShown));
}

}  // namespace wattle
