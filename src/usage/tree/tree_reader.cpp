#include "usage/tree/tree_reader.hpp"

#include <algorithm>
#include <chrono>
#include <ranges>
#include <set>

namespace wattle {
namespace {

/// How often all files are read. 50 ms less than a second: a tick may come a little early.
constexpr std::chrono::milliseconds kFullTickPeriod{950};

}  // namespace

TreeReader::TreeReader(const System& system, const TimeSource& clock, pid_t root,
                       const TreeOptions& options)
    : clock_(clock),
      full_tick_(clock.now()),
      tree_(system, root, options),
      memory_(system, options, full_tick_) {
  sum(full_tick_, false);
}

const TreeState& TreeReader::tick(bool all) {
  if (state_.has_ended) return state_;
  const TimePoint now = clock_.now();
  all = all || now - full_tick_ >= kFullTickPeriod;
  if (all) full_tick_ = now;
  for (WatchedProcess& process : tree_.processes()) process.read(all);
  settle_gone();
  tree_.find_new();
  sum(now, all);
  return state_;
}

/// Processes that are gone leave their use to their parents.
void TreeReader::settle_gone() {
  const auto is_gone = [](const WatchedProcess& process) { return process.state().is_gone; };
  if (std::ranges::none_of(tree_.processes(), is_gone)) return;
  std::set<pid_t> heirs;
  // Children first: a parent that is gone too passes on what it inherits.
  for (WatchedProcess& process : tree_.processes() | std::views::reverse) {
    const ProcessState& gone = process.state();
    if (!gone.is_gone) continue;
    memory_.forget(process);
    if (!gone.is_tracker) peaks_.update(gone.peak_bytes, gone.is_root);
    if (gone.is_root) continue;
    WatchedProcess* const parent = tree_.find(gone.parent);
    if (parent == nullptr) {
      gone.add_to(lost_);
      continue;
    }
    parent->inherit(gone, lost_);
    if (!parent->state().is_gone) heirs.insert(gone.parent);
  }
  // Read only now: then what the kernel counts for their children includes the gone processes.
  for (const pid_t pid : heirs) tree_.find(pid)->read_after_child();
  tree_.remove_gone();
}

void TreeReader::sum(TimePoint now, bool all) {
  TreeState state{.has_ended = tree_.root().is_gone || tree_.root().is_zombie, .is_complete = all};
  memory_.read(now, tree_.processes(), state);
  state.main.cpu = tree_.root().cpu.own();
  state.descendants.cpu = lost_.cpu + tree_.root().cpu.children();
  for (const WatchedProcess& watched : tree_.processes()) {
    const ProcessState& process = watched.state();
    GroupState& group = process.is_root ? state.main : state.descendants;
    if (!process.is_root) group.cpu += process.counted_cpu();
    if (process.is_tracker) continue;
    group.threads += process.threads;
    ++group.processes;
    peaks_.update(process.peak_bytes, process.is_root);
  }
  // The kernel counts children in ticks, so a sum can fall by less than a tick if a process ends.
  state.main.cpu = std::max(state.main.cpu, state_.main.cpu);
  state.descendants.cpu = std::max(state.descendants.cpu, state_.descendants.cpu);
  state.at = clock_.now();
  state_ = state;
}

TreeTotals TreeReader::totals() const noexcept {
  TreeTotals totals = lost_;
  for (const WatchedProcess& process : tree_.processes()) process.state().add_to(totals);
  return totals;
}

TreeReader::CpuParts TreeReader::cpu_parts() const noexcept {
  const TreeTotals all = totals();
  const double system_ns = static_cast<double>(all.cpu.count()) - all.user_ns;
  return {.user = Seconds(all.user_ns * 1e-9), .system = Seconds(system_ns * 1e-9)};
}

void TreeReader::forget_peaks() noexcept {
  peaks_ = {};
  for (WatchedProcess& process : tree_.processes()) process.forget_peak();
}

bool TreeReader::was_alone() const noexcept {
  return processes_seen() == 1 && tree_.root().activity.minor_faults.children() == 0;
}

std::vector<ProcessRow> TreeReader::rows() const {
  std::vector<ProcessRow> rows;
  rows.reserve(tree_.processes().size());
  for (const WatchedProcess& watched : tree_.processes()) {
    const ProcessState& process = watched.state();
    if (process.is_gone || process.threads == 0 || process.is_tracker) continue;
    rows.push_back({.pid = process.pid,
                    .name = process.name,
                    .cpu = process.cpu.total(),
                    .peak_rss_bytes = process.peak_bytes});
  }
  return rows;
}

std::string TreeReader::cpu_mechanism() const {
  return std::string(tree_.has_cpu_clocks() ? "the processes' CPU clocks"
                                            : "/proc/PID/stat, to 10 ms") +
         "; children that ended: the times that the kernel adds up for those that were waited for, "
         "to 10 ms (cutime, cstime); misses what ends unwaited between two ticks";
}

}  // namespace wattle
