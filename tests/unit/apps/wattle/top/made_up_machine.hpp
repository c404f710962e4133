// Observations of a machine that is made up: two packages, DRAM, two GPUs, a few processes.
#pragma once

#include <string>

#include "top/observation.hpp"

namespace wattle::app {

[[nodiscard]] inline TopDevice made_up_device(const char* name, double power_w, double energy_j) {
  TopDevice device{.name = name, .is_counted = true};
  device.power = Uncertain{power_w, 0.2};
  device.energy.energy = Joules(energy_j);
  device.energy.uncertainty = Joules(1.2);
  return device;
}

[[nodiscard]] inline TopProcess made_up_process(pid_t pid, pid_t parent, const char* command,
                                                const char* user, double cpu_s) {
  return {.pid = pid,
          .parent = parent,
          .command = command,
          .user = user,
          .cgroup = std::string("/user.slice/") + user,
          .cpu = Seconds(cpu_s),
          .memory_bytes = static_cast<std::uint64_t>(pid) * 1'000'000};
}

/// After 100 s, over a period of 1 s. Its packages and DRAM draw 130 W, 50 W of them idle; its GPUs
/// 300 W and 60 W.
[[nodiscard]] inline TopObservation made_up_machine() {
  TopObservation seen{.time_unix_s = 1'760'000'000.0,
                      .elapsed = Seconds(100.0),
                      .length = Seconds(1.0),
                      .host = "node7"};
  seen.devices = {made_up_device("package_0", 80.0, 8000.0),
                  made_up_device("package_1", 40.0, 4000.0), made_up_device("dram_0", 10.0, 1000.0),
                  made_up_device("nvidia_gpu_0", 300.0, 30000.0),
                  made_up_device("nvidia_gpu_1", 60.0, 6000.0)};
  for (std::size_t i : {3U, 4U}) {
    TopDevice& gpu = seen.devices[i];
    gpu.is_gpu = true;
    gpu.model = "NVIDIA H100 PCIe";
    gpu.utilization_percent = i == 3 ? 80.0 : 0.0;
    gpu.memory_used_bytes = 20e9;
    gpu.memory_total_bytes = 80e9;
    gpu.temperature_celsius = 54.0;
    gpu.limit_w = 350.0;
    gpu.users.emplace();
  }
  seen.devices[3].users = {{.pid = 20, .memory_bytes = 19'000'000'000}};
  seen.devices[4].energy.flags.set(Flag::partial_coverage);
  seen.devices[4].energy.unknown = Seconds(2.0);
  TopDevice lost{.name = "hwmon_psu_12v", .reason = "nothing was read"};
  seen.devices.push_back(lost);
  seen.processes = {
      made_up_process(1, 0, "systemd", "root", 0.0), made_up_process(10, 1, "bash", "alice", 0.1),
      made_up_process(20, 10, "python", "alice", 1.5), made_up_process(21, 10, "gcc", "alice", 0.2),
      made_up_process(30, 1, "gcc", "bob", 0.1)};
  seen.busy = Seconds(2.0);
  seen.threads = 8.0;
  seen.memory_used_bytes = 12'000'000'000;
  seen.memory_total_bytes = 64'000'000'000;
  seen.idle = IdleRange{.low = Watts(48.0), .typical = Watts(50.0), .high = Watts(52.0)};
  seen.idle_note = "idle by the baseline of 2026-11-24 23:50 UTC: 50.0 W over 30 s";
  seen.notes = {"not shown: psys: it is readable by root only (fix: wattle doctor)"};
  return seen;
}

}  // namespace wattle::app
