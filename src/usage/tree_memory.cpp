#include "usage/tree_memory.hpp"

#include <algorithm>
#include <array>

#include "usage/memory_sum.hpp"

namespace wattle {
namespace {

void set_bounds(GroupState& group, const MemoryBounds& bounds) noexcept {
  group.pss_bytes = bounds.total_bytes;
  group.private_bytes = bounds.private_bytes;
  group.is_estimated = bounds.are_upper;
}

}  // namespace

void TreeMemory::read(TimePoint now, std::span<WatchedProcess> processes, TreeState& state) {
  budget_.advance(now);
  MemorySum main;
  MemorySum descendants;
  turn_ %= processes.size();
  const std::size_t end = turn_ + processes.size();
  for (std::size_t turn = turn_; turn < end; ++turn) {
    WatchedProcess& process = processes[turn % processes.size()];
    const ProcessState& last = process.state();
    if (last.is_tracker || last.memory.rss_bytes == 0) continue;
    std::optional<ProportionalMemory> pss;
    if (std::uint64_t* const gap = gap_of(process)) {
      ++*gap;
    } else {
      pss = read_pss(process);
      turn_ = turn + 1;
    }
    (last.is_root ? state.main : state.descendants).rss_bytes += last.memory.rss_bytes;
    MemorySum& sum = last.is_root ? main : descendants;
    if (pss) sum.add(*pss);
    if (!pss) sum.add_without_pss(last.memory);
  }
  MemorySum combined = main;
  combined.add(descendants);
  const auto machine = combined.needs_bounds() ? read_machine() : std::nullopt;
  set_bounds(state.main, main.bounds(machine));
  set_bounds(state.descendants, descendants.bounds(machine));
  set_bounds(state.combined, combined.bounds(machine));
  state.combined.rss_bytes = state.main.rss_bytes + state.descendants.rss_bytes;
  // Pages that both groups have are private to neither.
  for (GroupState* group : {&state.main, &state.descendants}) {
    if (!group->is_estimated) continue;
    group->private_bytes = std::min(group->private_bytes, state.combined.private_bytes);
  }
}

/// The counter of the reason why the PSS of a process is not read; null if it is read.
std::uint64_t* TreeMemory::gap_of(const WatchedProcess& process) noexcept {
  const std::uint64_t rss = process.state().memory.rss_bytes;
  if (process.denies_proportional()) return &gaps_.denied;
  if (budget_.is_too_large(rss)) return &gaps_.too_large;
  return budget_.allows(rss) ? nullptr : &gaps_.budget;
}

std::optional<ProportionalMemory> TreeMemory::read_pss(WatchedProcess& process) {
  const TimePoint start = clock_.now();
  const auto memory = process.read_proportional();
  budget_.spend(clock_.now() - start);
  if (process.denies_proportional()) ++gaps_.denied;
  return memory;
}

std::optional<MappedMemory> TreeMemory::read_machine() {
  std::array<char, 4096> text;  // the lines that are needed come first
  if (!meminfo_) meminfo_ = open_for_reading(meminfo_path_);
  return parse_mapped_memory(text_at_start(meminfo_, text));
}

std::string TreeMemory::mechanism() const {
  return std::string("/proc/PID/smaps_rollup at each sample") +
         (policy_ == PssPolicy::budget ? ", within 1 % of a core" : ", whatever it takes") +
         "; a peak of one process between two samples is known by VmHWM, of a sum it is missed; of "
         "processes without it the resident sets, at most what /proc/meminfo reports for the "
         "machine";
}

}  // namespace wattle
