#include "usage/tree/tree_memory.hpp"

#include <algorithm>
#include <array>

#include "usage/tree/memory_sum.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

void set_bounds(GroupState& group, const MemoryBounds& bounds, bool is_estimated) noexcept {
  group.pss_bytes = bounds.total_bytes;
  group.private_bytes = bounds.private_bytes;
  group.is_estimated = is_estimated;
}

}  // namespace

void TreeMemory::MemoryDoubt::add(const WatchedProcess& process, std::uint64_t drift_now) noexcept {
  const ProcessMemory& resident = process.state().memory;
  ++processes;
  if (const auto& record = process.pss_record()) {
    sum += record->now(resident).pss_bytes;
    changed += record->doubt(resident);
    drift = std::max(drift, drift_now - record->drift_bytes);
    shared += record->shared_bytes();
  } else {
    sum += resident.rss_bytes;
    unread += resident.rss_bytes;
  }
}

void TreeMemory::MemoryDoubt::add(const MemoryDoubt& other) noexcept {
  sum += other.sum;
  unread += other.unread;
  changed += other.changed;
  drift = std::max(drift, other.drift);
  shared += other.shared;
  processes += other.processes;
}

TreeMemory::Doubts TreeMemory::doubts() const noexcept {
  Doubts all;
  for (const WatchedProcess* process : processes_) {
    (process->state().is_root ? all.main : all.descendants).add(*process, drift_bytes_);
  }
  all.main.drift += leaving_bytes_;
  all.descendants.drift += leaving_bytes_;
  all.combined = all.main;
  all.combined.add(all.descendants);
  return all;
}

void TreeMemory::read(TimePoint now, std::span<WatchedProcess> processes, TreeState& state) {
  budget_.advance(now);
  ++tick_;
  processes_.clear();
  leaving_bytes_ = 0;
  for (WatchedProcess& process : processes) {
    const ProcessState& last = process.state();
    if (last.is_tracker || last.memory.rss_bytes == 0) {
      forget(process);
      leaving_bytes_ += process.pss().leaving_bytes;
    } else {
      KnownPss& pss = process.pss();
      if (pss.first_tick == 0) pss.first_tick = tick_;
      pss.seen_bytes = last.memory.rss_bytes;
      processes_.push_back(&process);
    }
  }
  read_new(now);
  // A reading can show that shared pages have changed: then others must be read again.
  constexpr int kMostPasses = 3;
  for (int pass = 0; pass < kMostPasses && read_changed(now); ++pass) {
  }
  refresh(now);
  // The shared pages changed before they were read, so all processes read now know it.
  for (WatchedProcess* process : processes_) {
    auto& record = process->pss().record;
    if (record && record->tick == tick_) record->drift_bytes = drift_bytes_;
  }
  std::erase_if(processes_, [](const WatchedProcess* process) {
    return process->state().memory.rss_bytes == 0;  // it has ended just now
  });
  sum(state);
}

void TreeMemory::forget(WatchedProcess& process) noexcept {
  KnownPss& pss = process.pss();
  const std::uint64_t shared = pss.record ? pss.record->shared_bytes() : pss.seen_bytes;
  const ProcessState& last = process.state();
  const bool is_done = last.is_gone || last.is_zombie || last.is_tracker;
  // Once when it starts to give its memory back, and once when that is done.
  drift_bytes_ += shared + (is_done ? pss.leaving_bytes : 0);
  pss = {.leaving_bytes = is_done ? 0 : pss.leaving_bytes + shared};
}

/// Processes that were never read, the others when they come first.
void TreeMemory::read_new(TimePoint now) {
  if (processes_.empty()) return;
  turn_ %= processes_.size();
  const std::size_t end = turn_ + processes_.size();
  for (std::size_t turn = turn_; turn < end; ++turn) {
    WatchedProcess& process = *processes_[turn % processes_.size()];
    if (process.pss_record()) continue;
    if (std::uint64_t* const gap = gap_of(process)) {
      ++*gap;
    } else if (read_pss(now, process)) {
      turn_ = turn + 1;
    }
  }
}

/// `more`: by what shared pages may have changed besides.
bool TreeMemory::is_doubtful(const WatchedProcess& process, const Doubts& doubts,
                             std::uint64_t more) const noexcept {
  const PssRecord& record = *process.pss_record();
  const MemoryDoubt& group = doubts.of(process);
  const std::uint64_t drift =
      std::min(drift_bytes_ - record.drift_bytes + more, record.shared_bytes());
  return drift > group.tolerance() / 2 / group.processes ||
         record.doubt(process.state().memory) > group.tolerance() / 2 / group.processes;
}

/// Reads what may have changed too much; false where nothing was read.
bool TreeMemory::read_changed(TimePoint now) {
  const Doubts before = doubts();
  if (!budget_.is_forced() && before.main.is_tolerable() && before.descendants.is_tolerable()) {
    return false;
  }
  bool has_read = false;
  for (WatchedProcess* process : processes_) {
    const auto& record = process->pss_record();
    if (!record || record->tick == tick_) continue;
    if (!budget_.is_forced() && !is_doubtful(*process, before, 0)) continue;
    if (std::uint64_t* const gap = gap_of(*process)) {
      ++*gap;
    } else {
      has_read |= read_pss(now, *process);
    }
  }
  return has_read;
}

/// A process that writes to pages that it shares has more of its own, and its resident set is the
/// same: so all are read again now and then.
void TreeMemory::refresh(TimePoint now) {
  constexpr std::chrono::milliseconds kOld{950};
  if (processes_.empty()) return;
  refresh_turn_ %= processes_.size();
  const std::size_t end = refresh_turn_ + processes_.size();
  for (std::size_t turn = refresh_turn_; turn < end && budget_.has_spare(); ++turn) {
    WatchedProcess& process = *processes_[turn % processes_.size()];
    const auto& record = process.pss_record();
    if (!record || now - record->at < kOld || gap_of(process) != nullptr) continue;
    if (read_pss(now, process)) refresh_turn_ = turn + 1;
  }
}

/// The counter of the reason why the PSS of a process is not read; null if it is read.
std::uint64_t* TreeMemory::gap_of(const WatchedProcess& process) noexcept {
  const std::uint64_t rss = process.state().memory.rss_bytes;
  const auto& record = process.pss_record();
  const auto cost = record ? std::optional(record->cost) : std::nullopt;
  if (process.denies_proportional()) return &gaps_.denied;
  if (budget_.is_too_large(rss, cost)) return &gaps_.too_large;
  return budget_.allows(rss, cost) ? nullptr : &gaps_.budget;
}

bool TreeMemory::read_pss(TimePoint now, WatchedProcess& process) {
  const nanoseconds start = thread_cpu_();
  const auto memory = process.read_proportional();
  const ProcessMemory resident = process.state().memory;  // with what grew while it was read
  const PssCost cost{.time = thread_cpu_() - start, .rss_bytes = resident.rss_bytes};
  budget_.spend(cost);
  KnownPss& pss = process.pss();
  if (!memory) {
    if (process.denies_proportional()) ++gaps_.denied;
    // It may have ended since its resident set was read: the next tick shows it.
    if (!process.denies_proportional()) process.read(false);
    pss.record.reset();
    return false;
  }
  PssRecord read{.memory = *memory, .resident = resident, .at = now, .tick = tick_, .cost = cost};
  const std::uint64_t shared = read.shared_bytes();
  const std::uint64_t before = pss.record ? pss.record->shared_bytes() : 0;
  const std::uint64_t change = shared > before ? shared - before : before - shared;
  drift_bytes_ += change;
  if (!pss.record && pss.first_tick < tick_) note_known(pss.first_tick, change);
  read.drift_bytes = drift_bytes_;
  pss.record = read;
  return true;
}

/// Readings since that tick show this change already.
void TreeMemory::note_known(std::uint64_t since_tick, std::uint64_t change) noexcept {
  for (WatchedProcess* process : processes_) {
    auto& record = process->pss().record;
    if (record && record->tick >= since_tick) record->drift_bytes += change;
  }
}

void TreeMemory::sum(TreeState& state) {
  const Doubts all = doubts();
  MemorySum main;
  MemorySum descendants;
  const bool needs_bounds =
      !all.main.is_tolerable() || !all.descendants.is_tolerable() || !all.combined.is_tolerable();
  for (const WatchedProcess* process : processes_) {
    const ProcessState& last = process->state();
    GroupState& group = last.is_root ? state.main : state.descendants;
    const auto& record = process->pss_record();
    group.rss_bytes += last.memory.rss_bytes;
    MemorySum& sum = last.is_root ? main : descendants;
    const bool is_known = record && (!needs_bounds || all.of(*process).is_tolerable() ||
                                     !is_doubtful(*process, all, leaving_bytes_));
    if (is_known) sum.add(record->now(last.memory));
    if (!is_known) sum.add_without_pss(last.memory);
  }
  MemorySum combined = main;
  combined.add(descendants);
  const auto machine = needs_bounds ? read_machine() : std::nullopt;
  set_bounds(state.main, main.bounds(machine), !all.main.is_tolerable());
  set_bounds(state.descendants, descendants.bounds(machine), !all.descendants.is_tolerable());
  set_bounds(state.combined, combined.bounds(machine), !all.combined.is_tolerable());
  state.combined.rss_bytes = state.main.rss_bytes + state.descendants.rss_bytes;
  state.main.least_bytes = all.main.least();
  state.descendants.least_bytes = all.descendants.least();
  state.combined.least_bytes = all.combined.least();
  // Pages that both groups have are private to neither.
  for (GroupState* group : {&state.main, &state.descendants}) {
    if (!group->is_estimated) continue;
    group->private_bytes = std::min(group->private_bytes, state.combined.private_bytes);
  }
}

std::optional<MappedMemory> TreeMemory::read_machine() {
  std::array<char, 4096> text;  // the lines that are needed come first
  if (!meminfo_) meminfo_ = open_for_reading(meminfo_path_);
  return parse_mapped_memory(text_at_start(meminfo_, text));
}

std::string TreeMemory::mechanism() const {
  return std::string("/proc/PID/smaps_rollup when the resident set or its sharing changes, and ") +
         (policy_ == PssPolicy::budget ? "once a second within 1 % of a core"
                                       : "at each sample, whatever it takes") +
         "; a peak of one process between two samples is known by VmHWM, of a sum it is missed; of "
         "processes without it the resident sets, at most what /proc/meminfo reports for the "
         "machine";
}

}  // namespace wattle
