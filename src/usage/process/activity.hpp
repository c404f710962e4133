// The activity of processes besides computing: input and output, page faults, context switches.
// Arithmetic only.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "usage/process/cpu_ledger.hpp"
#include "usage/process/process.hpp"

namespace wattle {

/// Sums over processes, from where each came under watch.
struct ActivityTotals {
  IoCounts io{};
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;
  SwitchCounts switches{};
};

/// One number of /proc/PID/io. It holds what the process did together with the children that it
/// waited for, which cannot be distinguished; so where one ended unwaited, the larger of the two
/// sides stands. Threads: one at a time.
class IoLedger {
 public:
  void begin(std::int64_t value) noexcept { begin_ = now_ = value; }
  /// A smaller one than before is not believed.
  void update(std::int64_t value) noexcept { now_ = std::max(now_, value); }
  /// A child is gone.
  void inherit(const IoLedger& child) noexcept {
    seen_ += child.total();
    begin_ += child.begin_;
  }
  /// A child is gone that does not count.
  void leave_out(const IoLedger& child) noexcept { begin_ += child.now_; }

  [[nodiscard]] std::int64_t total() const noexcept { return std::max(seen_, now_ - begin_); }

 private:
  std::int64_t begin_ = 0;
  std::int64_t now_ = 0;
  std::int64_t seen_ = 0;  ///< of children that are gone
};

/// The context switches of a process: those of its threads, which the kernel counts each on its
/// own, and forgets with the thread. Threads: one at a time.
class SwitchLedger {
 public:
  struct Thread {
    pid_t number = 0;
    SwitchCounts counts{};
  };
  /// The threads there are, by rising numbers. `counts_new`: what those did that were not there
  /// the last time is new; else they are where this starts.
  void update(const std::vector<Thread>& threads, bool counts_new);
  [[nodiscard]] const SwitchCounts& total() const noexcept { return total_; }

 private:
  std::vector<Thread> threads_;
  SwitchCounts total_{};
};

/// All of one process. Threads: one at a time.
struct ProcessActivity {
  std::array<IoLedger, std::tuple_size_v<IoCounts>> io;
  Ledger<std::int64_t> minor_faults;
  Ledger<std::int64_t> major_faults;
  SwitchLedger switches;

  void inherit(const ProcessActivity& child) noexcept;
  /// The faults of its children count.
  void inherit_children_of(const ProcessActivity& child) noexcept;
  /// `is_tracker`: it does not count, but the faults of its children do.
  void add_to(ActivityTotals& totals, bool is_tracker) const noexcept;
};

}  // namespace wattle
