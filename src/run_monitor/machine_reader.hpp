// Reads what procfs says about the machine as a whole, over and over.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/fd.hpp"
#include "sensors/proc_tables.hpp"
#include "wattle/system.hpp"

namespace wattle {

/// Parts of all processors' time, in percent: together 100.
struct CpuShares {
  double user = 0.0;
  double system = 0.0;
  double idle = 0.0;
  double iowait = 0.0;
  double irq = 0.0;
  double steal = 0.0;
};

/// Their activity between two readings; absent where no tick passed. A counter that fell (time
/// spent waiting may) counts as standing still.
[[nodiscard]] std::optional<CpuShares> cpu_shares(const CpuTimes& begin,
                                                  const CpuTimes& end) noexcept;

/// At one time. Absent: this kernel, or this container, does not show it.
struct MachineState {
  std::optional<CpuTimes> cpu;  ///< without `processors`
  std::optional<MemoryState> memory;
  std::optional<Pressure> cpu_pressure;
  std::optional<Pressure> memory_pressure;
  std::optional<Pressure> io_pressure;
  std::optional<ByteTotals> disk;
  std::optional<ByteTotals> network;
};

/// Keeps the files open. Disks count that are devices, not parts or unions of such; of interfaces
/// likewise, but all (without the loopback) where none is a device, as in a container.
/// Threads: one at a time.
class MachineReader {
 public:
  explicit MachineReader(System system);

  [[nodiscard]] MachineState read();
  /// The processors alone.
  [[nodiscard]] std::optional<CpuTimes> read_cpu() noexcept;

 private:
  [[nodiscard]] std::string_view text_of(const Fd& file);
  [[nodiscard]] bool is_device(std::map<std::string, bool, std::less<>>& known, const char* folder,
                               std::string_view name) const;

  System system_;
  ProcStat stat_;
  Fd meminfo_;
  Fd cpu_pressure_;
  Fd memory_pressure_;
  Fd io_pressure_;
  Fd disks_;
  Fd network_;
  std::vector<char> text_;  ///< reused
  // The kind of each name.
  std::map<std::string, bool, std::less<>> known_disks_;
  std::map<std::string, bool, std::less<>> known_interfaces_;
};

}  // namespace wattle
