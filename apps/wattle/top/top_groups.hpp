// Who used the processors: groups of processes whose CPU times add up to all of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "estimate/energy_share.hpp"
#include "usage/process/process_times.hpp"
#include "wattle/estimate.hpp"

namespace wattle::app {

/// What processes are grouped by.
enum class TopKey : std::uint8_t { command, user, cgroup, container, pod, process };

/// The name of the group of a control group: its path, container or pod; "no container", "no pod"
/// where the path names none.
[[nodiscard]] std::string name_in_cgroup(const std::string& cgroup, TopKey key);

struct TopGroup {
  std::string name;
  std::size_t processes = 0;
  Seconds cpu{0};
  double percent = 0.0;                 ///< of the CPU time of everything
  std::optional<EnergyRange> energy{};  ///< a share of what was measured, or an estimate
};

/// All groups and the rest: their CPU times add up to `cpu`, their percentages to 100.
struct TopGroups {
  std::vector<TopGroup> groups;  ///< who used most comes first
  TopGroup rest;                 ///< interrupts, and processes that ended
  Seconds cpu{0};
};

/// `busy`: the CPU time of everything by /proc/stat; where processes add up to more by the rounding
/// of its ticks, that is everything.
[[nodiscard]] TopGroups group_uses(const std::vector<ProcessUse>& uses, Seconds busy,
                                   const std::function<std::string(const ProcessUse&)>& name_of);

/// Divides what was measured above idle among the groups by CPU time; what that leaves out by
/// rounding is the rest's. The idle part in joules.
Joules share_energy(TopGroups& top, Seconds wall, Joules measured, const IdleRange& idle);

}  // namespace wattle::app
