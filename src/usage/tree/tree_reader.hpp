// The resource use of a process and all its descendants, tick by tick.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "usage/tree/process_tree.hpp"
#include "usage/tree/tree_memory.hpp"
#include "usage/tree/tree_state.hpp"
#include "usage/tree/watched_tree.hpp"

namespace wattle {

/// A tick reads the CPU clock, `statm` and `children` of each process. The other files are read
/// once a second, and when a process is new. A descendant stays one when its parent ends. This
/// process does not count, nor do other trackers (`TrackerMark`). Not thread-safe.
///
/// `WatchedProcess` reads the files of a process, `WatchedTree` finds the processes, `TreeMemory`
/// adds up their memory. This class decides when, and adds up the rest.
class TreeReader {
 public:
  /// User and system time, to the 10 ms of the kernel's ticks.
  struct CpuParts {
    Seconds user{0};
    Seconds system{0};
  };
  using Activity = ActivitySum;

  /// Throws `InvalidArgument` if there is no such process, or it has ended. What was used before
  /// does not count.
  TreeReader(const System& system, const TimeSource& clock, pid_t root,
             const TreeOptions& options = {});

  /// A tick. Allocates only for new processes. Reads nothing after the end of the root.
  const TreeState& read() { return tick(false); }
  /// The same, of all files: for the last tick.
  const TreeState& read_all() { return tick(true); }
  [[nodiscard]] const TreeState& state() const noexcept { return state_; }

  /// With its number it identifies the process.
  [[nodiscard]] std::uint64_t root_start_time() const noexcept { return tree_.root().start_time; }
  /// By the numbers in procfs. Reads files.
  [[nodiscard]] Kinship kinship_of(pid_t pid) const { return tree_.kinship_of(pid); }

  /// The sum over all processes.
  [[nodiscard]] CpuParts cpu_parts() const noexcept;
  /// The sum over all processes. Changes once a second, and when processes start or end.
  [[nodiscard]] Activity activity() const noexcept { return totals().activity; }
  /// Peak resident memory of the largest process while it was watched.
  [[nodiscard]] std::uint64_t peak_rss_bytes() const noexcept { return peaks_.largest_bytes(); }
  [[nodiscard]] const PeakMemory& peaks() const noexcept { return peaks_; }
  /// Peaks count from the next tick on.
  void forget_peaks() noexcept;
  /// True if the root has had no child, so that the kernel's totals with children are its own.
  [[nodiscard]] bool was_alone() const noexcept;
  [[nodiscard]] std::uint64_t processes_seen() const noexcept { return totals().processes; }
  /// Those that are alive, the root first.
  [[nodiscard]] std::vector<ProcessRow> rows() const;
  [[nodiscard]] const PssGaps& pss_gaps() const noexcept { return memory_.gaps(); }

  /// Where CPU times, the list of processes and memory come from, and what this can miss.
  [[nodiscard]] std::string cpu_mechanism() const;
  [[nodiscard]] std::string tree_mechanism() const { return tree_.mechanism(); }
  [[nodiscard]] std::string memory_mechanism() const { return memory_.mechanism(); }

 private:
  const TreeState& tick(bool all);
  void settle_gone();
  void sum(TimePoint now, bool all);
  [[nodiscard]] TreeTotals totals() const noexcept;

  const TimeSource& clock_;
  TimePoint full_tick_;  ///< when all files were read last
  WatchedTree tree_;
  TreeMemory memory_;
  TreeState state_;
  PeakMemory peaks_;
  TreeTotals lost_;  ///< of processes that are gone: what no parent took over
};

}  // namespace wattle
