// The memory of a tree's processes, in which each page counts once.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/files/fd.hpp"
#include "sensors/proc_tables.hpp"
#include "usage/process/watched_process.hpp"
#include "usage/tree/pss_record.hpp"
#include "usage/tree/tree_state.hpp"

namespace wattle {

/// Reads the PSS of processes within a budget of processor time, and carries what it read as long
/// as it can hardly have changed. Where that does not give the sum to 2 %, bounds replace it. Not
/// thread-safe.
class TreeMemory {
 public:
  TreeMemory(const System& system, const TreeOptions& options, TimePoint now)
      : policy_(options.pss),
        thread_cpu_(options.thread_cpu),
        budget_(options.pss, now),
        meminfo_path_((system.procfs / "meminfo").string()) {}

  /// Sets the bytes in `state`. `now`: the time of the tick.
  void read(TimePoint now, std::span<WatchedProcess> processes, TreeState& state);
  /// A process is gone: pages that it shared are now those of fewer.
  void forget(WatchedProcess& process) noexcept;
  [[nodiscard]] const PssGaps& gaps() const noexcept { return gaps_; }
  /// How memory is read, and what this can miss.
  [[nodiscard]] std::string mechanism() const;

 private:
  /// The uncertain part of the sum over a group of processes, in bytes.
  struct MemoryDoubt {
    std::uint64_t sum = 0;      ///< that is doubted
    std::uint64_t unread = 0;   ///< resident sets of processes that were never read
    std::uint64_t changed = 0;  ///< resident sets have, since they were read
    std::uint64_t drift = 0;    ///< of shared pages, since the first of the readings
    std::uint64_t shared = 0;   ///< parts of the processes: pages that can have drifted
    std::uint64_t processes = 0;
    void add(const WatchedProcess& process, std::uint64_t drift_now) noexcept;
    void add(const MemoryDoubt& other) noexcept;
    /// An uncertainty that does not matter to readers of the sum.
    [[nodiscard]] std::uint64_t tolerance() const noexcept { return sum / 50; }
    [[nodiscard]] std::uint64_t all() const noexcept {
      return unread + changed + std::min(drift, shared);
    }
    [[nodiscard]] bool is_tolerable() const noexcept { return all() <= tolerance(); }
    [[nodiscard]] std::uint64_t least() const noexcept { return sum - std::min(all(), sum); }
  };
  struct Doubts {
    MemoryDoubt main;
    MemoryDoubt descendants;
    MemoryDoubt combined;
    [[nodiscard]] const MemoryDoubt& of(const WatchedProcess& process) const noexcept {
      return process.state().is_root ? main : descendants;
    }
  };

  void read_new(TimePoint now);
  [[nodiscard]] bool read_changed(TimePoint now);
  void refresh(TimePoint now);
  void sum(TreeState& state);
  [[nodiscard]] Doubts doubts() const noexcept;
  [[nodiscard]] bool is_doubtful(const WatchedProcess& process, const Doubts& doubts,
                                 std::uint64_t more) const noexcept;
  [[nodiscard]] std::uint64_t* gap_of(const WatchedProcess& process) noexcept;
  void note_known(std::uint64_t since_tick, std::uint64_t change) noexcept;
  bool read_pss(TimePoint now, WatchedProcess& process);
  [[nodiscard]] std::optional<MappedMemory> read_machine();

  PssPolicy policy_;
  std::chrono::nanoseconds (*thread_cpu_)() noexcept;
  PssBudget budget_;
  std::uint64_t drift_bytes_ = 0;    ///< by how much shared parts have changed, in all
  std::uint64_t leaving_bytes_ = 0;  ///< shared pages that processes are giving back
  std::uint64_t tick_ = 0;
  std::size_t turn_ = 0;                    ///< the new process to start with
  std::size_t refresh_turn_ = 0;            ///< the old one
  std::vector<WatchedProcess*> processes_;  ///< that have memory, in this tick
  PssGaps gaps_;
  std::string meminfo_path_;
  Fd meminfo_;  ///< opened when it is needed first
};

}  // namespace wattle
