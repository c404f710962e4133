// What a process and all its descendants use, tick by tick.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "usage/activity.hpp"
#include "usage/cpu_ledger.hpp"
#include "usage/memory_sum.hpp"
#include "usage/process.hpp"
#include "usage/process_tree.hpp"
#include "usage/procfs.hpp"
#include "usage/pss_budget.hpp"
#include "usage/tracker_mark.hpp"
#include "usage/tree_state.hpp"

namespace wattle {

/// Follows a tree. Every tick reads the CPU clock, `statm` and `children` of each process; `stat`
/// and the peak of its memory once a second, and when it appears. A descendant stays one when its
/// parent ends. Another tracker among them (`TrackerMark`) does not count, nor does this process.
/// Threads: one at a time.
class TreeReader {
 public:
  /// Throws `InvalidArgument` where there is no such process, or it has ended. What it used before
  /// this does not count.
  TreeReader(const System& system, const Clock& clock, pid_t root, const TreeOptions& options = {});

  /// A tick. Allocates only for processes that are new.
  const TreeState& read();
  /// A tick that reads everything, for the end.
  const TreeState& read_all();
  [[nodiscard]] const TreeState& state() const noexcept { return state_; }

  [[nodiscard]] pid_t root() const noexcept { return root_; }
  /// Names that process for good, together with its number.
  [[nodiscard]] std::uint64_t root_start_time() const noexcept {
    return watched_.front().start_time;
  }
  /// By the numbers that procfs shows. Reads files.
  [[nodiscard]] Kinship kinship_of(pid_t pid) const;

  /// User and system time of everything together, by the kernel's 10 ms ticks.
  struct CpuParts {
    Seconds user{0};
    Seconds system{0};
  };
  [[nodiscard]] CpuParts cpu_parts() const noexcept;
  /// What all of them did besides computing, as it was last seen: once a second, and as processes
  /// come and end.
  struct Activity {
    ActivityTotals totals;
    IoGap io_gap = IoGap::none;   ///< of one of them: `totals.io` lacks it
    bool hides_switches = false;  ///< one of them does: `totals.switches` lacks it
  };
  [[nodiscard]] Activity activity() const noexcept;
  /// Peak resident memory of the largest process while it was watched.
  [[nodiscard]] std::uint64_t peak_rss_bytes() const noexcept { return peaks_.largest_bytes(); }
  [[nodiscard]] const PeakMemory& peaks() const noexcept { return peaks_; }
  /// The peaks begin now: what was there before is not yet what is to be tracked.
  void forget_peaks() noexcept;
  /// True where the process itself neither has children nor ever waited for one: what the kernel
  /// counts for it and its children is its own.
  [[nodiscard]] bool was_alone() const noexcept {
    return seen_ == 1 && watched_.front().activity.minor_faults.children() == 0;
  }
  [[nodiscard]] std::uint64_t processes_seen() const noexcept { return seen_; }
  /// Those that are alive, the root first.
  [[nodiscard]] std::vector<ProcessRow> rows() const;
  [[nodiscard]] const PssGaps& pss_gaps() const noexcept { return gaps_; }

  /// Where processor times and the list of processes came from, and what that can miss.
  [[nodiscard]] std::string cpu_mechanism() const;
  [[nodiscard]] std::string tree_mechanism() const;
  /// The same for what processes share of their memory.
  [[nodiscard]] std::string memory_mechanism() const;

 private:
  struct Watched {
    pid_t pid = 0;
    pid_t parent = 0;
    std::uint64_t start_time = 0;
    std::string name;
    KeptFile statm;
    KeptFile children;
    clockid_t clock = 0;
    bool has_clock = false;
    bool is_gone = false;
    bool is_denied = false;      ///< its PSS, to this user
    bool lists_threads = false;  ///< at the next look for children
    bool was_there = false;      ///< before the tree came under watch
    bool has_io = false;         ///< was read once, as were
    bool has_switches = false;   ///< these
    bool hides_switches = false;
    IoGap io_gap = IoGap::none;
    bool is_tracker = false;  ///< of somebody else: what it uses does not count
    unsigned looks_for_mark = 0;
    std::uint64_t threads = 0;
    ProcessMemory memory;
    std::optional<ProportionalMemory> proportional;  ///< at this tick
    std::optional<std::uint64_t> first_peak_bytes;   ///< VmHWM when it came under watch
    std::uint64_t peak_bytes = 0;
    double user_share = 0.0;  ///< of its time, its children's included
    CpuLedger cpu;
    ProcessActivity activity;
  };

  void tick(bool all);
  void watch(const ProcessStat& stat, bool was_there);
  void look_at(Watched& process, bool all);
  void refresh(Watched& process, bool all);
  void look_for_mark(Watched& process) noexcept;
  static void take_times(Watched& process, const ProcessStat& stat) noexcept;
  void look_at_status(Watched& process);
  static void look_at_peak(Watched& process, std::string_view status) noexcept;
  void look_at_switches(Watched& process, std::string_view status);
  void look_at_io(Watched& process) noexcept;
  void bury_activity(const Watched& process, Watched* parent) noexcept;
  [[nodiscard]] static std::chrono::nanoseconds counted(const Watched& process) noexcept;
  void bury();
  void find_children();
  void find_children_of_threads(pid_t pid);
  void meet(const KeptFile& children);
  void meet(std::string_view children);
  template <class Read>
  void meet_all(Read read);
  [[nodiscard]] bool is_self(pid_t pid) const noexcept;
  void scan();
  void sum();
  void read_proportional();
  void sum_memory(TreeState& state);
  [[nodiscard]] std::optional<ProcessStat> stat_of(pid_t pid) const;
  [[nodiscard]] std::optional<ProportionalMemory> proportional(Watched& process);
  [[nodiscard]] Watched* find(pid_t pid) noexcept;

  const Clock& clock_;
  TreeOptions options_;
  Procfs procfs_;
  pid_t root_;
  KeptFile adopted_;
  bool scans_ = false;             ///< the kernel lists no children: look at all processes
  TimePoint refreshed_;            ///< when everything was read last
  std::uint64_t began_ticks_ = 0;  ///< on the clock of `start_time`: the newest process by then
  std::vector<Watched> watched_;   ///< the root first, parents before their children
  std::unordered_map<pid_t, std::size_t> places_;
  std::string meminfo_path_;
  Fd meminfo_;  ///< opened when it is needed first
  std::vector<char> text_;
  TrackerMarks marks_;
  PssBudget budget_;
  std::size_t pss_turn_ = 0;
  PssGaps gaps_;
  TreeState state_;
  std::chrono::nanoseconds lost_{0};  ///< of those whose parents are not watched
  double lost_user_ns_ = 0.0;
  ActivityTotals lost_activity_;  ///< as `lost_`, and the switches of all that are gone
  IoGap lost_io_gap_ = IoGap::none;
  bool lost_hides_switches_ = false;
  std::vector<SwitchLedger::Thread> switches_;  ///< of the process at hand
  PeakMemory peaks_;
  std::uint64_t seen_ = 0;
};

}  // namespace wattle
