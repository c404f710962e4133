// One process of a tree: its files, and its state when they were last read.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "usage/process/process.hpp"
#include "usage/process/process_ledgers.hpp"
#include "usage/process/procfs.hpp"
#include "usage/tracker_mark.hpp"
#include "usage/tree/pss_record.hpp"
#include "usage/tree/tree_state.hpp"

namespace wattle {

/// Buffers that the processes of a tree share to read their files. Not thread-safe.
struct ProcessSources {
  /// /proc/PID/status, which lists the supplementary groups: room for about 1500 of them.
  using StatusText = std::array<char, std::size_t{16} << 10U>;

  Procfs procfs;
  bool lists_children = true;  ///< the kernel has /proc/PID/task/TID/children
  TrackerMarks marks{};
  /// Buffers, for one process at a time. Here, so that a reading touches no more pages than it
  /// needs.
  std::vector<SwitchLedger::Thread> switches{};
  std::unique_ptr<StatusText> status = std::make_unique_for_overwrite<StatusText>();
};

/// How a process came into the tree. This decides which of its use counts.
enum class Origin : std::uint8_t {
  root,      ///< counts from now on
  launcher,  ///< a root that has done nothing yet, and will execute another program
  earlier,   ///< a descendant that was there before the tree was watched; counts from now on
  later,     ///< any other descendant; counts from its start
};

/// CPU time of a process and of the children that it waited for, in clock ticks.
struct CpuTicks {
  std::uint64_t user = 0;
  std::uint64_t all = 0;  ///< user and system
};

/// A process when it was last read.
struct ProcessState {
  pid_t pid = 0;
  pid_t parent = 0;
  std::uint64_t start_time = 0;
  std::string name{};
  bool is_root = false;
  bool is_gone = false;
  bool is_zombie = false;   ///< it has ended, and its parent has not waited for it
  bool is_tracker = false;  ///< another tracker: its own use does not count
  bool hides_switches = false;
  IoGap io_gap = IoGap::none;
  std::uint64_t threads = 0;
  double user_share = 0.0;  ///< of its CPU time and its children's that counts
  CpuTicks uncounted{};     ///< used before the tracking started
  CpuLedger cpu{};
  ProcessActivity activity{};
  ProcessMemory memory{};
  std::uint64_t peak_bytes = 0;

  /// CPU time that counts, its children's included.
  [[nodiscard]] std::chrono::nanoseconds counted_cpu() const noexcept {
    return is_tracker ? cpu.children() : cpu.total();
  }
  /// Adds what counts.
  void add_to(TreeTotals& totals) const noexcept;
};

/// Keeps `statm` and `children` open, if there are descriptors left. Not thread-safe.
class WatchedProcess {
 public:
  /// Reads everything, except of a launcher. `sources` outlives it.
  WatchedProcess(ProcessSources& sources, const ProcessStat& stat, Origin origin);

  /// Reads the CPU clock and `statm`; `all`: also `stat`, `status`, `io` and the tracker's mark.
  /// Allocates only for new threads.
  void read(bool all);
  /// Takes over what `child` used, which is gone; `rest` gets what a parent does not take over.
  void inherit(const ProcessState& child, TreeTotals& rest) noexcept;
  /// Reads what changes when this process waits for a child.
  void read_after_child();
  /// The list of children of the first thread; returns as `KeptFile::read`.
  [[nodiscard]] ssize_t read_children(std::span<char> buffer) const noexcept {
    return children_.read(buffer);
  }
  /// True once after each `read(true)`, if it has several threads: their children are to be read.
  [[nodiscard]] bool take_threads_due() noexcept {
    return std::exchange(are_threads_due_, false) && state_.threads > 1;
  }
  /// Walks the page tables of the process, which can take milliseconds. Its resident set of then
  /// replaces that of `statm` where it has grown.
  [[nodiscard]] std::optional<ProportionalMemory> read_proportional();
  /// True if this was refused to this user since the last `read(true)`.
  [[nodiscard]] bool denies_proportional() const noexcept { return denies_proportional_; }
  /// For `TreeMemory`.
  [[nodiscard]] KnownPss& pss() noexcept { return pss_; }
  [[nodiscard]] const std::optional<PssRecord>& pss_record() const noexcept { return pss_.record; }
  void forget_peak() noexcept { state_.peak_bytes = 0; }

  [[nodiscard]] const ProcessState& state() const noexcept { return state_; }

 private:
  [[nodiscard]] std::optional<std::chrono::nanoseconds> own_cpu() const noexcept;
  void refresh(bool all);
  void set_gone() noexcept;
  void take_times(const ProcessStat& stat) noexcept;
  void read_status();
  void take_peak(std::string_view status) noexcept;
  void take_switches(std::string_view status);
  void read_io() noexcept;
  void read_mark() noexcept;

  ProcessSources* sources_;
  KeptFile statm_;
  KeptFile children_;
  std::optional<clockid_t> clock_;
  ProcessState state_;
  std::optional<std::uint64_t> first_peak_bytes_;  ///< the kernel's peak when first read
  bool knows_first_io_ = false;                    ///< what it did before is known
  bool knows_first_switches_ = false;
  bool are_threads_due_ = false;
  bool denies_proportional_ = false;
  KnownPss pss_;
  unsigned mark_reads_ = 0;
};

}  // namespace wattle
