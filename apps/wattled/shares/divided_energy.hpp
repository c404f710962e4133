// The measured energy of an interval, divided among groups of processes. Pure.
//
// Whole microjoules, so that the parts add up to what was measured exactly.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "estimate/energy_share.hpp"
#include "usage/cgroup/cgroup_tree.hpp"
#include "usage/gpu/gpu_division.hpp"
#include "wattle/units.hpp"

namespace wattle::daemon {

/// Where the energy of a group lies.
struct GroupRange {
  std::uint64_t low_uj = 0;
  std::uint64_t high_uj = 0;
};

/// The measured energy of a domain, or of several together, by user: groups + idle + unexplained +
/// rest + undivided = measured.
struct DividedEnergy {
  std::string domain{};               ///< "cpu", "nvidia_gpu_0"
  std::vector<std::string> covers{};  ///< the domains that were measured
  std::uint64_t measured_uj = 0;
  std::map<CgroupGroup, std::uint64_t> groups_uj{};
  std::map<CgroupGroup, GroupRange> ranges_uj{};  ///< of those whose share is not certain
  std::uint64_t idle_uj = 0;                      ///< what the idle device draws
  std::uint64_t unexplained_uj = 0;               ///< idle or not: nobody measured the idle power
  std::uint64_t rest_uj = 0;       ///< interrupts, kernel threads, processes in no group
  std::uint64_t undivided_uj = 0;  ///< its users are not known
  std::string undivided_reason{};  ///< empty: nothing is undivided
};

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
[[nodiscard]] DividedEnergy divide_gpu_energy(std::uint64_t measured_uj, const GpuParts& parts,
                                              std::span<const CgroupGroup> groups,
                                              const std::optional<CgroupGroup>& owner);

/// All of it has users that are not known.
[[nodiscard]] DividedEnergy undivided(std::uint64_t measured_uj, std::string reason);

}  // namespace wattle::daemon
