// Processor time, input and output, page faults and context switches of one process of a tree and
// of those that it has made and lost. Arithmetic only.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "usage/process/process.hpp"

namespace wattle {

/// The mean use of one processor in percent; more than 100 where several ran. Absent for no time at
/// all.
[[nodiscard]] inline std::optional<double> cpu_percent(std::chrono::nanoseconds cpu,
                                                       std::chrono::nanoseconds time) noexcept {
  using Real = std::chrono::duration<double>;
  if (time <= std::chrono::nanoseconds(0)) return std::nullopt;
  return 100.0 * (Real(cpu) / Real(time));
}

/// Processor time, or something else that the kernel counts for a process and, apart from that, for
/// the children that it waited for. All counts from where the process came under watch. Its
/// children's share is known twice: by what was last seen of each that is gone, which misses what
/// it did after that and children that came and went unseen; and by what the kernel adds up for
/// those that the process waited for, which misses all where it ignores SIGCHLD. Neither says too
/// much, so the larger one holds. Threads: one at a time.
template <class Amount>
class Ledger {
 public:
  Ledger() noexcept = default;
  /// `own`, `waited`: what the process and the children that it waited for had used by then.
  Ledger(Amount own, Amount waited) noexcept
      : own_begin_(own), own_(own), waited_begin_(waited), waited_(waited) {}

  /// Later figures of the kernel. A smaller one than before is not believed.
  void update_own(Amount own) noexcept { own_ = std::max(own_, own); }
  void update_waited(Amount waited) noexcept { waited_ = std::max(waited_, waited); }
  /// A child is gone.
  void inherit(const Ledger& child) noexcept {
    seen_ += child.total();
    // Once it is waited for, also what it used before it was watched counts as waited.
    waited_begin_ += child.own_begin_ + child.waited_begin_;
  }

  /// As `inherit`, of a child whose own time does not count; that of its children does, and what it
  /// used after its last sample, if it was waited for: that cannot be separated from its
  /// children's.
  void inherit_children_of(const Ledger& child) noexcept {
    seen_ += child.children();
    waited_begin_ += child.own_ + child.waited_begin_;
  }

  [[nodiscard]] Amount own() const noexcept { return own_ - own_begin_; }
  [[nodiscard]] Amount children() const noexcept {
    return std::max(seen_, waited_ - waited_begin_);
  }
  [[nodiscard]] Amount total() const noexcept { return own() + children(); }

 private:
  Amount own_begin_{0};
  Amount own_{0};
  Amount waited_begin_{0};
  Amount waited_{0};
  Amount seen_{0};  ///< of children that are gone
};

using CpuLedger = Ledger<std::chrono::nanoseconds>;

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
