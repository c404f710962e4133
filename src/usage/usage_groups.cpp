#include "usage/usage_groups.hpp"

#include "usage/usage_units.hpp"

namespace wattle {

void fill_machine(ResourceUsage& usage, const MachineUsage& machine) {
  CPUUtilization& cpu = usage.cpu_utilization;
  cpu.system_core_count = machine.processors;
  cpu.n_expected_cores = machine.processors;
  cpu.system.mean_sum_percent = machine.mean_cpu_percent;
  cpu.system.max_sum_percent = machine.max_cpu_percent;
  if (machine.processors) {
    const double count = *machine.processors;
    if (machine.mean_cpu_percent)
      cpu.system.mean_hardware_percent = *machine.mean_cpu_percent / count;
    if (machine.max_cpu_percent) cpu.system.max_hardware_percent = *machine.max_cpu_percent / count;
  }
  if (cpu.system.mean_sum_percent && !cpu.system.max_sum_percent) {
    usage.unknown.push_back(
        {{"cpu_utilization.system.max_sum_percent", "cpu_utilization.system.max_hardware_percent"},
         "less than two seconds were measured"});
  }
  if (machine.memory_total_bytes && machine.peak_memory_used_bytes) {
    const double factor = memory_factor(usage.max_ram.unit, "RAM");
    usage.max_ram.system_capacity = static_cast<double>(*machine.memory_total_bytes) * factor;
    usage.max_ram.system = static_cast<double>(*machine.peak_memory_used_bytes) * factor;
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
  usage.mechanisms.push_back(
      {{"peak_rss_bytes"},
       "the kernel's own peak (VmHWM) once a second and statm at each look; misses a peak within "
       "the last second of a process"});
}

void fill_mechanisms(ResourceUsage& usage, const TreeReader& tree) {
  usage.mechanisms.push_back(
      {{"cpu_utilization.main", "cpu_utilization.descendants", "cpu_utilization.combined"},
       tree.cpu_mechanism()});
  usage.mechanisms.push_back({{"processes", "still_running"}, tree.tree_mechanism()});
  usage.mechanisms.push_back(
      {{"max_ram.main.total_rss"},
       "/proc/PID/statm at each look; misses peaks between two looks, and lags some pages behind"});
  usage.mechanisms.push_back({{"max_ram.main.private_rss", "max_ram.main.shared_rss",
                               "max_ram.descendants", "max_ram.combined", "peak_pss_bytes"},
                              tree.memory_mechanism()});
}

}  // namespace wattle
