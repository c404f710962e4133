// The size of a machine, for its power.
#pragma once

#include "sensors/cpu_info.hpp"
#include "sensors/machine_extent.hpp"
#include "wattle/estimate.hpp"
#include "wattle/system.hpp"

namespace wattle {

struct MachineSize {
  unsigned threads = 0;     ///< hardware threads, or vCPUs, that are online
  unsigned cores = 0;       ///< 0: not known
  unsigned packages = 0;    ///< 0: not known
  double memory_gb = 0.0;   ///< 10^9 bytes; 0: not known
  bool is_virtual = false;  ///< a part of a machine whose size is not known
  bool vcpu_is_core = false;
  /// False where the kernel puts idle cores into no state that saves much power.
  bool sleeps = true;
};

/// From /proc/cpuinfo, /proc/meminfo, and what sysfs says of the topology and of idle states. What
/// cannot be read is not known.
[[nodiscard]] MachineSize read_machine_size(const System& system, const Processors& processors,
                                            const Product& product, MachineExtent extent);

}  // namespace wattle
