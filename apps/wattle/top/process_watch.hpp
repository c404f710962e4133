// All processes of this machine, and what each of them used since the last reading.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "top/observation.hpp"
#include "usage/process/process_times.hpp"
#include "usage/process/procfs.hpp"
#include "wattle/system.hpp"

namespace wattle::app {

/// The CPU time that a process has used since its start, by its clock; absent where it has none.
using CpuClockOf = std::function<std::optional<std::chrono::nanoseconds>(pid_t)>;

/// Empty where the numbers of processes in procfs are not those of this process's system calls.
[[nodiscard]] CpuClockOf kernel_cpu_clocks(const System& system);

/// Asks the clock of each process, and reads files only of those that have used CPU time since the
/// last reading: the memory of another one is read again every 30th time, as is who it belongs to;
/// that of a busy one every tenth. Without clocks it reads one file of each process every time.
/// Threads: one at a time.
class ProcessWatch {
 public:
  explicit ProcessWatch(const System& system) : ProcessWatch(system, kernel_cpu_clocks(system)) {}
  ProcessWatch(const System& system, CpuClockOf clock_of);

  /// A process that is new counts from its start; one that has ended is left out. The CPU time is
  /// absent of a process that ran before the last reading, but was not in it: at the first reading
  /// of all.
  [[nodiscard]] std::vector<TopProcess> read();

 private:
  struct KnownProcess {
    std::uint64_t start_time = 0;
    std::chrono::nanoseconds used{0};  ///< CPU time since its start
    std::uint64_t first = 0;           ///< the number of the first reading that it was in; 0: none
    std::uint64_t last = 0;            ///< of the last one
    bool has_ended = false;            ///< a zombie
    TopProcess shown{};                ///< as last read
  };

  /// True if there is nothing to read of it: its clock has not moved.
  [[nodiscard]] bool rests(const KnownProcess& known,
                           std::optional<std::chrono::nanoseconds> used) const noexcept;
  /// Reads its files. False: there is no such process any more.
  [[nodiscard]] bool update(KnownProcess& known, pid_t pid,
                            std::optional<std::chrono::nanoseconds> used);
  /// Every reading of `period` is one of this process's turns.
  [[nodiscard]] bool has_turn(pid_t pid, std::uint64_t period) const noexcept {
    return (readings_ + static_cast<std::uint64_t>(pid)) % period == 0;
  }

  System system_;
  Procfs procfs_;
  CpuClockOf clock_of_;
  UserNames users_{};
  std::uint64_t readings_ = 0;
  std::uint64_t newest_start_ = 0;   ///< of all processes in all readings
  std::uint64_t newest_before_ = 0;  ///< in those before this one
  std::unordered_map<pid_t, KnownProcess> known_{};
};

}  // namespace wattle::app
