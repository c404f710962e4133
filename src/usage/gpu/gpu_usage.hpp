// The GPUs while a command ran: memory, utilization, temperature, and who used them; and the groups
// of resource usage that are about them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sensors/sensor.hpp"
#include "wattle/tracker.hpp"

namespace wattle {

/// One GPU over an interval. Absent values are not known.
struct GpuUsage {
  Domain domain;
  DeviceInfo info;
  std::optional<std::uint64_t> memory_total_bytes;
  std::optional<std::uint64_t> peak_memory_used_bytes;  ///< the largest value seen
  std::optional<double> mean_utilization_percent;
  std::optional<double> max_utilization_percent;
  std::optional<double> max_temperature_celsius;
  /// Whether a process of the command was seen on it.
  std::optional<bool> used_by_command;
  /// Whether a process of somebody else was seen on it; absent where `used_by_command` is, or
  /// where somebody may have used it unseen.
  std::optional<bool> used_by_others;
  std::string used_by_command_unknown;  ///< why that is absent; else empty
  std::string used_by_others_unknown;   ///< why that alone is absent; else empty
  /// For how long its engines worked for the command and for others; absent where the driver does
  /// not report it of every process.
  std::optional<Seconds> command_engine_time{};
  std::optional<Seconds> others_engine_time{};
  std::string unknown;  ///< why other values are absent; empty where none is
};

/// All GPUs together.
struct GpusUsage {
  std::vector<GpuUsage> gpus;
  unsigned included = 0;        ///< those that the sums are about
  unsigned counted = 0;         ///< those whose utilization is in the sums
  std::string utilization_gap;  ///< why the sums of utilization are not known; empty: unknown
  /// Those that are there too, but were refused: sums without them would pass for all.
  unsigned refused = 0;
  bool wants_refused = true;  ///< their utilization was asked for as well
  std::optional<std::uint64_t> memory_total_bytes;
  std::optional<std::uint64_t> peak_memory_used_bytes;  ///< largest sum at one time
  std::optional<double> mean_sum_percent;               ///< of the GPUs' utilizations
  std::optional<double> max_sum_percent;
  /// GPU memory of the command's own process, of its descendants, of both: largest sums seen.
  std::optional<std::uint64_t> peak_main_bytes;
  std::optional<std::uint64_t> peak_descendants_bytes;
  std::optional<std::uint64_t> peak_combined_bytes;
};

/// Fills `max_gpu_ram` (in its unit), `gpu_utilization`, and why parts of them are unknown.
/// `on_machine`: how many GPUs there are; absent where not every vendor's can be listed.
void fill_gpu_groups(ResourceUsage& usage, const GpusUsage& all,
                     std::optional<unsigned> on_machine);

}  // namespace wattle
