// The contents of a row of the tracking file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "usage/files/tracking_table.hpp"
#include "usage/gpu/gpu_monitor.hpp"
#include "usage/machine.hpp"
#include "usage/tree/tree_state.hpp"

namespace wattle {

struct TrackingUnits {
  std::string ram = "gigabytes";
  std::string gpu_ram = "gigabytes";
  std::string time = "seconds";
};

/// The values that do not change from row to row.
struct TrackingMachine {
  std::optional<unsigned> expected_cores{};  ///< absent: all of the machine
  std::optional<double> gpu_memory_bytes{};
  std::optional<unsigned> gpus{};
  unsigned counted_gpus = 0;
};

[[nodiscard]] TrackingHeader tracking_header(const TrackingUnits& units,
                                             const MachineUsage& machine,
                                             const TrackingMachine& known);

/// A sample, and the one before it.
struct TrackingSample {
  const TreeState& before;
  const TreeState& state;
  const MachineMonitor& machine;
  const GpuMonitor::Now& gpus;
};
[[nodiscard]] std::vector<TrackingCell> tracking_row(const TrackingUnits& units,
                                                     const TrackingMachine& known,
                                                     const TrackingSample& sample);

}  // namespace wattle
