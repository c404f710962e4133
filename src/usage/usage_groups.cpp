#include "usage/usage_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "usage/files/usage_units.hpp"

namespace wattle {
namespace {

std::uint64_t unsigned_of(std::int64_t count) noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0));
}

void fill_faults_and_switches(ResourceUsage& usage, const TreeReader& tree) {
  const TreeReader::Activity activity = tree.activity();
  usage.minor_faults = unsigned_of(activity.totals.minor_faults);
  usage.major_faults = unsigned_of(activity.totals.major_faults);
  usage.mechanisms.push_back({{"minor_faults", "major_faults"},
                              "/proc/PID/stat once a second, of children that ended what the "
                              "kernel adds up for those that "
                              "were waited for; misses the last second of what ends unwaited"});
  std::vector<std::string> keys = {"voluntary_switches", "involuntary_switches"};
  if (activity.hides_switches) {
    usage.unknown.push_back({std::move(keys),
                             "a process had more than 256 threads, which are not asked one by one, "
                             "or the kernel does not count them"});
    return;
  }
  usage.voluntary_switches = unsigned_of(activity.totals.switches[0]);
  usage.involuntary_switches = unsigned_of(activity.totals.switches[1]);
  usage.mechanisms.push_back(
      {std::move(keys),
       "/proc/PID/task/TID/status once a second; misses the last second of threads and processes "
       "that end, and those that live between two samples"});
}

}  // namespace

void fill_io(ResourceUsage& usage, const TreeReader& tree) {
  std::vector<std::string> keys = {"io_read_bytes", "io_written_bytes", "storage_read_bytes",
                                   "storage_written_bytes"};
  const TreeReader::Activity activity = tree.activity();
  if (activity.io_gap != IoGap::none) {
    usage.unknown.push_back(
        {std::move(keys), activity.io_gap == IoGap::denied
                              ? "this user may not read /proc/PID/io of every process"
                              : "this kernel has no /proc/PID/io (CONFIG_TASK_IO_ACCOUNTING)"});
    return;
  }
  const IoCounts& io = activity.totals.io;
  usage.io_read_bytes = unsigned_of(io[0]);
  usage.io_written_bytes = unsigned_of(io[1]);
  usage.storage_read_bytes = unsigned_of(io[2]);
  usage.storage_written_bytes = unsigned_of(io[3]);
  usage.mechanisms.push_back(
      {std::move(keys),
       "/proc/PID/io once a second, which counts children with the process that waited for them; "
       "misses the last second of what ends unwaited, and of such a child and its parent the "
       "less"});
}

void fill_machine(ResourceUsage& usage, const MachineUsage& machine) {
  CPUUtilization& cpu = usage.cpu_utilization;
  cpu.system_core_count = machine.processors;
  cpu.n_expected_cores = machine.processors;
  cpu.system =
      percentages_of(machine.max_cpu_percent, machine.mean_cpu_percent, machine.processors);
  if (!machine.processors) {
    std::vector<std::string> keys = {"cpu_utilization.system_core_count",
                                     "cpu_utilization.n_expected_cores"};
    for (const char* const group : {"system", "main", "descendants", "combined"}) {
      for (const char* const kind : {"max", "mean"}) {
        keys.push_back(fmt::format("cpu_utilization.{}.{}_hardware_percent", group, kind));
      }
    }
    usage.unknown.push_back({std::move(keys), "the CPU cores could not be counted in /proc/stat"});
  }
  if (!cpu.system.mean_sum_percent) {
    usage.unknown.push_back(
        {{"cpu_utilization.system"}, "/proc/stat could not be read twice with time between"});
  } else if (!cpu.system.max_sum_percent) {
    usage.unknown.push_back(
        {{"cpu_utilization.system.max_sum_percent", "cpu_utilization.system.max_hardware_percent"},
         "it is the largest mean of a second or more, and fewer than two of these lie between "
         "samples"});
  }
  if (machine.memory_total_bytes && machine.peak_memory_used_bytes) {
    const double unit = bytes_in(usage.max_ram.unit, "RAM");
    usage.max_ram.system_capacity = static_cast<double>(*machine.memory_total_bytes) / unit;
    usage.max_ram.system = static_cast<double>(*machine.peak_memory_used_bytes) / unit;
  } else {
    usage.unknown.push_back(
        {{"max_ram.system_capacity", "max_ram.system"}, "/proc/meminfo could not be read"});
  }
}

void fill_tree(ResourceUsage& usage, const TreeReader& tree) {
  const TreeReader::CpuParts parts = tree.cpu_parts();
  usage.cpu_user = parts.user;
  usage.cpu_system = parts.system;
  usage.peak_rss_bytes = tree.peak_rss_bytes();
  usage.processes = tree.processes_seen();
  usage.still_running.emplace();
  for (const ProcessRow& row : tree.rows()) {
    usage.still_running->push_back(
        {.pid = row.pid, .name = row.name, .cpu = row.cpu, .peak_rss_bytes = row.peak_rss_bytes});
  }
  fill_mechanisms(usage, tree);
  usage.mechanisms.push_back({{"cpu_user_s", "cpu_system_s"}, tree.cpu_mechanism()});
  usage.unknown.push_back({{"cpu_task_clock_s"},
                           "only `wattle run --task-clock` counts it: a clock cannot be hung on "
                           "processes that are there already"});
  usage.mechanisms.push_back(
      {{"peak_rss_bytes"},
       "the kernel's own peak (VmHWM) once a second and statm at each sample; misses a peak within "
       "the last second of a process"});
  fill_io(usage, tree);
  fill_faults_and_switches(usage, tree);
}

void fill_mechanisms(ResourceUsage& usage, const TreeReader& tree) {
  usage.mechanisms.push_back(
      {{"cpu_utilization.main", "cpu_utilization.descendants", "cpu_utilization.combined"},
       tree.cpu_mechanism()});
  usage.mechanisms.push_back({{"processes", "still_running"}, tree.tree_mechanism()});
  usage.mechanisms.push_back(
      {{"max_ram.main.total_rss"},
       "/proc/PID/statm at each sample, and the kernel's own peak (VmHWM) "
       "once a second; misses a peak "
       "within the last second of the process, and is up to some pages too small"});
  usage.mechanisms.push_back({{"max_ram.main.private_rss", "max_ram.main.shared_rss",
                               "max_ram.descendants", "max_ram.combined", "peak_pss_bytes"},
                              tree.memory_mechanism()});
}

}  // namespace wattle
