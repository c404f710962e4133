// The measured energy of an interval, divided among groups of processes, or processes. Pure.
//
// Whole microjoules, so that the parts add up to what was measured exactly.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "estimate/energy_share.hpp"
#include "usage/cgroup/cgroup_tree.hpp"
#include "usage/gpu/gpu_division.hpp"
#include "wattle/units.hpp"

namespace wattle::daemon {

/// A process for good: its number may be another one's later.
struct GpuProcess {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< since boot
  /// Printable, as it was first seen: a process may change it.
  std::string name{};

  [[nodiscard]] friend std::strong_ordering operator<=>(const GpuProcess& a,
                                                        const GpuProcess& b) noexcept {
    return std::tie(a.pid, a.start_ticks) <=> std::tie(b.pid, b.start_ticks);
  }
  [[nodiscard]] friend bool operator==(const GpuProcess& a, const GpuProcess& b) noexcept {
    return std::tie(a.pid, a.start_ticks) == std::tie(b.pid, b.start_ticks);
  }
};

/// Where the energy of a group lies.
struct GroupRange {
  std::uint64_t low_uj = 0;
  std::uint64_t high_uj = 0;
};

/// The measured energy of a domain, or of several together, by user: groups + idle + unexplained +
/// rest + undivided = measured. `Group`: `CgroupGroup` or `GpuProcess`.
template <class Group>
struct EnergyAmong {
  std::string domain{};               ///< "cpu", "nvidia_gpu_0"
  std::vector<std::string> covers{};  ///< the domains that were measured
  std::uint64_t measured_uj = 0;
  std::map<Group, std::uint64_t> groups_uj{};
  std::map<Group, GroupRange> ranges_uj{};  ///< of those whose share is not certain
  std::uint64_t idle_uj = 0;                ///< what the idle device draws
  std::uint64_t unexplained_uj = 0;         ///< idle or not: nobody measured the idle power
  std::uint64_t rest_uj = 0;                ///< interrupts, kernel threads, processes in no group
  std::uint64_t undivided_uj = 0;           ///< its users are not known
  std::string undivided_reason{};           ///< empty: nothing is undivided
};
using DividedEnergy = EnergyAmong<CgroupGroup>;

/// `total` in the proportions of `weights`, each part rounded down.
[[nodiscard]] std::vector<std::uint64_t> parts_of(std::uint64_t total,
                                                  std::span<const std::uint64_t> weights);

/// The known idle power of packages and DRAM.
struct IdlePower {
  std::optional<IdleRange> baseline{};  ///< absent: nobody measured it
  Watts lowest;                         ///< of an interval until now: idle power is not higher
};

struct CpuUse {
  std::map<CgroupGroup, std::uint64_t> groups_us{};  ///< CPU time in the interval
  std::optional<std::uint64_t> busy_us{};            ///< of everything; absent: not known
};

/// Packages and DRAM together: first what the idle machine draws, then the rest by CPU time, as
/// docs/estimates.md describes, and so are the ranges. Where an interval is below the baseline, it
/// is not used.
[[nodiscard]] DividedEnergy divide_cpu(std::uint64_t measured_uj, Seconds length, const CpuUse& use,
                                       const IdlePower& idle);

/// `groups`: what the places in `parts` stand for. `owner`: whose device it is alone, for the time
/// in which its processes are not known; absent: nobody's, or not known. Of a GPU that several use,
/// nobody knows what a second of each draws: the range of a share is from nothing to everything.
template <class Group = CgroupGroup>
[[nodiscard]] EnergyAmong<Group> divide_gpu_energy(
    std::uint64_t measured_uj, const GpuParts& parts,
    const std::vector<std::type_identity_t<Group>>& groups,
    const std::optional<std::type_identity_t<Group>>& owner);

/// All of it has users that are not known.
template <class Group = CgroupGroup>
[[nodiscard]] EnergyAmong<Group> undivided(std::uint64_t measured_uj, std::string reason);

}  // namespace wattle::daemon
