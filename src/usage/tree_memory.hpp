// The memory of a tree's processes, in which each page counts once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "sensors/proc_tables.hpp"
#include "usage/pss_budget.hpp"
#include "usage/tree_state.hpp"
#include "usage/watched_process.hpp"

namespace wattle {

/// Reads the PSS of as many processes as the budget allows, and takes turns. Bounds replace the PSS
/// of the others. Not thread-safe.
class TreeMemory {
 public:
  TreeMemory(const System& system, const Clock& clock, PssPolicy policy, TimePoint now)
      : clock_(clock),
        policy_(policy),
        budget_(policy, now),
        meminfo_path_((system.procfs / "meminfo").string()) {}

  /// Sets the bytes in `state`. `now`: the time of the tick. There is at least one process.
  void read(TimePoint now, std::span<WatchedProcess> processes, TreeState& state);
  [[nodiscard]] const PssGaps& gaps() const noexcept { return gaps_; }
  /// How memory is read, and what this can miss.
  [[nodiscard]] std::string mechanism() const;

 private:
  [[nodiscard]] std::uint64_t* gap_of(const WatchedProcess& process) noexcept;
  [[nodiscard]] std::optional<ProportionalMemory> read_pss(WatchedProcess& process);
  [[nodiscard]] std::optional<MappedMemory> read_machine();

  const Clock& clock_;
  PssPolicy policy_;
  PssBudget budget_;
  std::size_t turn_ = 0;  ///< the process to start with
  PssGaps gaps_;
  std::string meminfo_path_;
  Fd meminfo_;  ///< opened when it is needed first
};

}  // namespace wattle
