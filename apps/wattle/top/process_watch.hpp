// All processes of this machine, and what each of them used since the last reading.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "top/observation.hpp"
#include "usage/process/process_times.hpp"
#include "usage/process/procfs.hpp"
#include "wattle/system.hpp"

namespace wattle::app {

/// Reads one file of each process a time; who it belongs to is read again every tenth time alone.
/// Threads: one at a time.
class ProcessWatch {
 public:
  explicit ProcessWatch(const System& system);

  /// A process that is new counts from its start; one that has ended is left out. The CPU time is
  /// absent of a process that ran before the last reading, but was not in it: at the first reading
  /// of all.
  [[nodiscard]] std::vector<TopProcess> read();

 private:
  struct Known {
    std::uint64_t start_time = 0;
    std::uint64_t ticks = 0;
    std::uint64_t first = 0;  ///< the number of the first reading that it was in; 0: none yet
    std::uint64_t last = 0;   ///< of the last one
    PrintableText user{};
    PrintableText cgroup{};
  };

  System system_;
  Procfs procfs_;
  UserNames users_{};
  std::uint64_t readings_ = 0;
  std::uint64_t newest_start_ = 0;  ///< of all processes in all readings
  std::unordered_map<pid_t, Known> known_{};
};

}  // namespace wattle::app
