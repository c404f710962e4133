// A process tree and its resource use at one time, as values.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/cpu_time.hpp"
#include "usage/process/process_ledgers.hpp"
#include "usage/tree/pss_record.hpp"
#include "wattle/clock.hpp"
#include "wattle/units.hpp"

namespace wattle {

struct TreeOptions {
  PssPolicy pss = PssPolicy::budget;
  /// A subreaper: orphans of the tree become its children. `strangers` are its other children.
  std::optional<pid_t> adopter{};
  std::set<pid_t> strangers{};
  /// Descriptors that may stay open; absent: half of this process's limit, at most 4096.
  std::optional<std::size_t> most_kept_files{};
  /// `TreeReader::root_start_time` of the process; absent: any process with this number.
  std::optional<std::uint64_t> start_time{};
  /// The process is about to execute another program: its memory is not read before that.
  bool is_launcher = false;
  /// The processor time that the calling thread has used. Tests replace it.
  std::chrono::nanoseconds (*thread_cpu)() noexcept = &thread_cpu_time;
};

/// Some processes of a tree at one time.
struct GroupState {
  std::chrono::nanoseconds cpu{0};  ///< since the tree is watched; never falls
  std::uint64_t rss_bytes = 0;      ///< sum: shared pages count in each process
  std::uint64_t pss_bytes = 0;      ///< sum; a process whose PSS is unknown counts by its RSS
  std::uint64_t least_bytes = 0;    ///< of `pss_bytes`, where it is estimated
  std::uint64_t private_bytes = 0;
  std::uint64_t threads = 0;
  std::size_t processes = 0;
  /// PSS and private bytes are upper bounds: too much of the PSS is unknown, or may have changed.
  bool is_estimated = false;
};

/// A tree at one time.
struct TreeState {
  TimePoint at;
  bool has_ended = false;    ///< the root; the rest is then its last known state
  bool is_complete = false;  ///< all files were read, children that were never seen are included
  GroupState main;
  GroupState descendants;
  GroupState combined;  ///< memory only: the bounds of a sum are not the sum of the bounds
};

/// Largest resident memory of single processes. The kernel records it, so peaks between two ticks
/// are included. 0: no process was read.
struct PeakMemory {
  std::uint64_t main_bytes = 0;
  std::uint64_t descendant_bytes = 0;  ///< of the largest descendant
  std::uint64_t other_bytes = 0;       ///< of the root or a descendant
  void update(std::uint64_t bytes, bool is_main) noexcept {
    std::uint64_t& peak = is_main ? main_bytes : descendant_bytes;
    peak = std::max(peak, bytes);
  }
  [[nodiscard]] std::uint64_t largest_bytes() const noexcept {
    return std::max({main_bytes, descendant_bytes, other_bytes});
  }
};

/// How often the PSS of a process was not read when it was wanted, by reason.
struct PssGaps {
  std::uint64_t denied = 0;     ///< rights
  std::uint64_t too_large = 0;  ///< one reading would take too long
  std::uint64_t budget = 0;     ///< all readings together would take too long
  [[nodiscard]] bool any() const noexcept { return denied + too_large + budget > 0; }
};

/// Why the I/O of a process is not known.
enum class IoGap : std::uint8_t {
  none,
  denied,  ///< to this user
  absent,  ///< the kernel does not count it
};

/// I/O, page faults and context switches of several processes.
struct ActivitySum {
  ActivityTotals totals;
  IoGap io_gap = IoGap::none;   ///< of some process, whose I/O `totals` lacks
  bool hides_switches = false;  ///< some process does: `totals` lacks its context switches
};

/// The use of several processes.
struct TreeTotals {
  std::chrono::nanoseconds cpu{0};
  double user_ns = 0.0;  ///< the part of `cpu` in user mode
  ActivitySum activity;
  std::uint64_t processes = 0;
};

/// One process, for reports.
struct ProcessRow {
  pid_t pid = 0;
  std::string name;
  Seconds cpu{0};
  std::uint64_t peak_rss_bytes = 0;
};

}  // namespace wattle
