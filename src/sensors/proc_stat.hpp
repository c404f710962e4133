// The CPU times of the whole machine, from /proc/stat.
#pragma once

#include <optional>
#include <vector>

#include "base/files/fd.hpp"
#include "sensors/proc_tables.hpp"
#include "wattle/system.hpp"

namespace wattle {

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
