// Processor time and memory of the whole machine, from procfs.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/cpu_time.hpp"
#include "base/files/fd.hpp"
#include "sensors/proc_tables.hpp"
#include "wattle/clock.hpp"
#include "wattle/system.hpp"

namespace wattle {

/// Figures of the machine over an interval. Percentages are sums over processors: 200 means two of
/// them busy.
struct MachineUsage {
  std::optional<unsigned> processors;
  std::optional<double> mean_cpu_percent;
  /// The highest mean over one second or more; absent if the interval had less than two.
  std::optional<double> max_cpu_percent;
  /// The time that interrupts and the hypervisor took of all processors together, in the kernel's
  /// steps of 10 ms.
  std::optional<Seconds> interrupted;
  std::optional<std::uint64_t> memory_total_bytes;
  std::optional<std::uint64_t> peak_memory_used_bytes;  ///< the largest value seen
};

/// Follows the machine through files that stay open. Threads: one at a time.
class MachineMonitor {
 public:
  explicit MachineMonitor(const System& system);

  /// Reads both files. Allocates nothing.
  void sample(TimePoint now) noexcept;

  /// From the first sample to the last.
  [[nodiscard]] MachineUsage usage() const noexcept;

  /// Between the last two samples, in percent of all processors; the kernel counts in 10 ms.
  [[nodiscard]] std::optional<double> last_cpu_percent() const noexcept { return cpu_percent_; }
  /// CPU time of everything since boot, at the last sample.
  [[nodiscard]] std::optional<Seconds> last_busy() const noexcept {
    return last_ ? std::optional<Seconds>(ClockTicks(last_->busy)) : std::nullopt;
  }
  /// At the last sample.
  [[nodiscard]] std::optional<double> last_memory_used_bytes() const noexcept {
    return memory_ ? std::optional(static_cast<double>(memory_->used_bytes)) : std::nullopt;
  }

 private:
  void sample_cpu(TimePoint now) noexcept;
  void sample_memory() noexcept;

  ProcStat stat_;
  Fd meminfo_;
  std::optional<CpuTimes> first_;
  std::optional<CpuTimes> last_;
  std::optional<double> cpu_percent_;
  CpuTimes span_begin_;
  TimePoint span_begin_at_;
  int spans_ = 0;
  double max_cpu_percent_ = 0.0;
  std::optional<MemoryState> memory_;
  std::uint64_t peak_memory_bytes_ = 0;
};

}  // namespace wattle
