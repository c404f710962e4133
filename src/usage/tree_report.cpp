// What a tree reader tells besides its ticks.
#include "usage/tree_reader.hpp"

namespace wattle {
namespace {

double in_ns(std::chrono::nanoseconds time) noexcept { return static_cast<double>(time.count()); }

}  // namespace

Kinship TreeReader::kinship_of(pid_t pid) const {
  if (pid == root_) return Kinship::main;
  constexpr int kDeepest = 1000;
  for (int depth = 0; depth < kDeepest && pid > 1; ++depth) {
    if (places_.contains(pid)) return Kinship::descendant;
    const auto stat = stat_of(pid);
    if (!stat) return Kinship::unknown;
    if (stat->parent == options_.adopter) {
      return options_.strangers.contains(pid) ? Kinship::stranger : Kinship::descendant;
    }
    pid = stat->parent;
  }
  return Kinship::stranger;
}

TreeReader::CpuParts TreeReader::cpu_parts() const noexcept {
  double all_ns = in_ns(lost_);
  double user_ns = lost_user_ns_;
  for (const Watched& process : watched_) {
    all_ns += in_ns(counted(process));
    user_ns += process.user_share * in_ns(counted(process));
  }
  return {.user = Seconds(user_ns * 1e-9), .system = Seconds((all_ns - user_ns) * 1e-9)};
}

std::vector<ProcessRow> TreeReader::rows() const {
  std::vector<ProcessRow> rows;
  rows.reserve(watched_.size());
  for (const Watched& process : watched_) {
    if (process.is_gone || process.threads == 0 || process.is_tracker) continue;
    rows.push_back({.pid = process.pid,
                    .name = process.name,
                    .cpu = process.cpu.total(),
                    .peak_rss_bytes = process.peak_bytes});
  }
  return rows;
}

std::string TreeReader::cpu_mechanism() const {
  const std::string rest =
      "; children that ended: the times that the kernel adds up for those that were waited for, to "
      "10 ms (cutime, cstime); misses what ends unwaited between two ticks";
  return (procfs_.is_own() ? "the processes' CPU clocks" : "/proc/PID/stat, to 10 ms") + rest;
}

std::string TreeReader::tree_mechanism() const {
  if (scans_) {
    return "all of /proc at each tick (the kernel has no /proc/PID/task/TID/children); misses what "
           "lives between two ticks, and whose parent ended before it was seen";
  }
  return "/proc/PID/task/TID/children, of threads other than the first once a second; misses what "
         "lives between two ticks, and whose parent ended before it was seen";
}

std::string TreeReader::memory_mechanism() const {
  const bool is_bounded = options_.pss == PssPolicy::budget;
  return std::string("/proc/PID/smaps_rollup at each sample") +
         (is_bounded ? ", within 1 % of a core" : ", whatever it takes") +
         "; a peak of one process between two samples is known by VmHWM, of a sum it is missed; of "
         "processes without it the resident sets, at most what /proc/meminfo reports for the "
         "machine";
}

}  // namespace wattle
