// The whole machine, from procfs: its processors, memory, disks and network. Pure functions of the
// texts, and a reader that keeps /proc/stat open.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "base/files/fd.hpp"
#include "wattle/system.hpp"

namespace wattle {

/// Time of all processors together since boot, in clock ticks.
struct CpuTimes {
  // Every tick is in one of these: what guests got is in `user` alone.
  std::uint64_t user = 0;  ///< low priority (nice) too
  std::uint64_t system = 0;
  std::uint64_t idle = 0;
  std::uint64_t iowait = 0;  ///< idle, while something waited for a disk; can fall
  std::uint64_t irq = 0;     ///< interrupts, soft ones too
  std::uint64_t steal = 0;   ///< taken by the hypervisor

  std::uint64_t busy = 0;
  std::uint64_t total = 0;  ///< busy, idle, waiting for I/O, stolen by the hypervisor
  unsigned processors = 0;  ///< online; 0 if the text is cut off before that
};

/// From the text of /proc/stat, which may be cut off; absent where its first line is not what the
/// kernel writes.
[[nodiscard]] std::optional<CpuTimes> parse_cpu_times(std::string_view text) noexcept;

struct MemoryState {
  std::uint64_t total_bytes = 0;
  std::uint64_t used_bytes = 0;  ///< total minus what could be had without swapping
};

/// From the text of /proc/meminfo; absent where MemTotal or MemAvailable (Linux 3.14) is missing.
[[nodiscard]] std::optional<MemoryState> parse_memory(std::string_view text) noexcept;

/// The memory of all processes of the machine, each page once.
struct MappedMemory {
  std::uint64_t anonymous_bytes = 0;
  std::uint64_t file_bytes = 0;  ///< of files and of shared memory
  std::uint64_t machine_bytes = std::numeric_limits<std::uint64_t>::max();  ///< its memory
};
/// From the text of /proc/meminfo. Where AnonPages or Mapped is missing, both are at most MemTotal;
/// absent where that is missing too.
[[nodiscard]] std::optional<MappedMemory> parse_mapped_memory(std::string_view text) noexcept;

/// For how long something had to wait for a resource since boot (PSI).
struct Pressure {
  double some_s = 0.0;             ///< at least one process waited
  std::optional<double> full_s{};  ///< all that could have run did
};

/// From the text of a file of /proc/pressure.
[[nodiscard]] std::optional<Pressure> parse_pressure(std::string_view text) noexcept;

/// Bytes since boot.
struct ByteTotals {
  std::uint64_t in = 0;   ///< read, received
  std::uint64_t out = 0;  ///< written, sent
};

/// True if a disk or an interface of that name counts: partitions and bridges show again what
/// others do.
using NameFilter = std::function<bool(std::string_view name)>;

/// From the text of /proc/diskstats; absent where no disk counts.
[[nodiscard]] std::optional<ByteTotals> parse_disk_totals(std::string_view text,
                                                          const NameFilter& counts);
/// From the text of /proc/net/dev; absent where no interface counts.
[[nodiscard]] std::optional<ByteTotals> parse_network_totals(std::string_view text,
                                                             const NameFilter& counts);

/// Adds; stays at the largest number where a sum of garbage would wrap around.
void add_saturating(std::uint64_t& sum, std::uint64_t term) noexcept;

/// Reads /proc/stat, which stays open. Absent times: it cannot be read. Allocates nothing after its
/// construction. Threads: one at a time.
class ProcStat {
 public:
  explicit ProcStat(const System& system);

  /// The times, and the number of processors.
  [[nodiscard]] std::optional<CpuTimes> read() noexcept;
  /// The times without that number, which takes the kernel less on machines of many processors.
  [[nodiscard]] std::optional<CpuTimes> read_times() noexcept;

 private:
  Fd file_;
  std::vector<char> text_;  ///< reused
};

}  // namespace wattle
