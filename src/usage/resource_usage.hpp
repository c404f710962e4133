// What a command used of the machine, in the five groups and with the names that gpu_tracker's
// users know, and in a few more of our own. Absent values are not measured; `unknown` says why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "usage/process.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// Resident memory in bytes; total = private + shared.
struct RSSValues {
  std::optional<double> total_rss;
  std::optional<double> private_rss;
  std::optional<double> shared_rss;
};

struct MaxRAM {
  std::optional<double> system_capacity;  ///< bytes
  std::optional<double> system;           ///< bytes, largest seen while the command ran
  RSSValues main;
  RSSValues descendants;
  RSSValues combined;
};

/// Bytes of GPU memory, all GPUs together.
struct MaxGPURAM {
  std::optional<double> system_capacity;
  std::optional<double> system;
  std::optional<double> main;
  std::optional<double> descendants;
  std::optional<double> combined;
};

/// 0 to 100 times the number of units for the sums, 0 to 100 for the hardware percentages.
struct ProcessingUnitPercentages {
  std::optional<double> max_sum_percent;
  std::optional<double> max_hardware_percent;
  std::optional<double> mean_sum_percent;
  std::optional<double> mean_hardware_percent;
};

struct CPUUtilization {
  std::optional<unsigned> system_core_count;  ///< online logical processors
  std::optional<unsigned> n_expected_cores;
  ProcessingUnitPercentages system;
  ProcessingUnitPercentages main;
  ProcessingUnitPercentages descendants;
  ProcessingUnitPercentages combined;
  std::optional<unsigned> main_n_threads;
  std::optional<unsigned> descendants_n_threads;
  std::optional<unsigned> combined_n_threads;
};

struct GPUUtilization {
  std::optional<unsigned> system_gpu_count;
  std::optional<unsigned> n_expected_gpus;
  ProcessingUnitPercentages gpu_percentages;
};

/// Why one or more keys are null.
struct UnknownUsage {
  std::vector<std::string> keys;  ///< "max_ram.main", "processes" ...
  std::string reason;
};

struct ResourceUsage {
  MaxRAM max_ram;
  MaxGPURAM max_gpu_ram;
  CPUUtilization cpu_utilization;
  GPUUtilization gpu_utilization;
  Seconds compute_time{0};

  /// Of the command and everything it started, ended or not.
  std::optional<Seconds> cpu_user;
  std::optional<Seconds> cpu_system;
  /// Of the largest single process among them, not of their sum.
  std::optional<std::uint64_t> peak_rss_bytes;
  std::optional<std::uint64_t> peak_pss_bytes;
  /// Descendants that outlived the command.
  std::optional<std::vector<LiveProcess>> still_running;
  std::optional<std::uint64_t> processes;

  std::vector<UnknownUsage> unknown;
};

}  // namespace wattle
