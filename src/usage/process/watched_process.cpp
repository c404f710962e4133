#include "usage/process/watched_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include "base/cpu_time.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

/// /proc/PID/statm is shorter.
using ShortText = std::array<char, 1024>;
/// /proc/PID/io and smaps_rollup are shorter.
using LongText = std::array<char, 4096>;

/// Reading the status of more threads once a second would take several milliseconds.
constexpr std::uint64_t kMostThreads = 256;

CpuTicks cpu_of(const ProcessStat& stat) noexcept {
  const std::uint64_t user = stat.user + stat.waited_user;
  return {.user = user, .all = user + stat.system + stat.waited_system};
}

double ratio_of(std::uint64_t part, std::uint64_t whole) noexcept {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

bool means_gone(int error) noexcept { return error == ESRCH || error == ENOENT; }
bool means_denied(int error) noexcept { return error == EACCES || error == EPERM; }

}  // namespace

void ProcessState::add_to(TreeTotals& totals) const noexcept {
  totals.cpu += counted_cpu();
  totals.user_ns += user_share * static_cast<double>(counted_cpu().count());
  activity.add_to(totals.activity.totals, is_tracker);
  if (is_tracker) return;
  if (io_gap != IoGap::none) totals.activity.io_gap = io_gap;
  totals.activity.hides_switches |= hides_switches;
  ++totals.processes;
}

WatchedProcess::WatchedProcess(ProcessSources& sources, const ProcessStat& stat, Origin origin)
    : sources_(&sources),
      statm_(sources.procfs, stat.pid, ProcessFile::statm),
      state_{.pid = stat.pid,
             .parent = stat.parent,
             .start_time = stat.start_time,
             .name = stat.name,
             .is_root = origin == Origin::root || origin == Origin::launcher} {
  if (sources.lists_children) {
    children_ = KeptFile(sources.procfs, stat.pid, ProcessFile::children);
  }
  clockid_t clock = 0;
  if (sources.procfs.is_own() && ::clock_getcpuclockid(stat.pid, &clock) == 0) clock_ = clock;
  if (origin != Origin::later) {
    state_.cpu = CpuLedger(own_cpu().value_or(ClockTicks(stat.user + stat.system)),
                           ClockTicks(stat.waited_user + stat.waited_system));
    state_.uncounted = cpu_of(stat);
    state_.user_share = ratio_of(state_.uncounted.user, state_.uncounted.all);
    state_.activity.minor_faults = {stat.minor_faults, stat.waited_minor_faults};
    state_.activity.major_faults = {stat.major_faults, stat.waited_major_faults};
  }
  if (origin == Origin::later || origin == Origin::launcher) {
    first_peak_bytes_ = 0;
    knows_first_io_ = knows_first_switches_ = true;
  }
  if (origin == Origin::launcher) {
    // It has no child, and nobody has waited for it, so no other process can have its number. It
    // loses its memory when it executes the program.
    state_.threads = 1;
  } else {
    read(true);
  }
}

std::optional<nanoseconds> WatchedProcess::own_cpu() const noexcept {
  return clock_ ? cpu_time(*clock_) : std::nullopt;
}

void WatchedProcess::read(bool all) {
  // A clock has only the number of the process. If the process is alive afterwards, it is its own.
  const auto own = own_cpu();
  ShortText text;
  const ssize_t count = statm_.read(text);
  if (count < 0 && means_gone(errno)) return set_gone();
  if (own) state_.cpu.update_own(*own);
  const auto memory =
      parse_statm({text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))});
  if (memory) {
    state_.memory = *memory;
    state_.peak_bytes = std::max(state_.peak_bytes, memory->rss_bytes);
  }
  const bool may_have_ended = memory && memory->rss_bytes == 0;
  if (all || !own || may_have_ended) refresh(all);
}

void WatchedProcess::set_gone() noexcept {
  state_.is_gone = true;
  state_.threads = 0;
  state_.memory = {};
}

void WatchedProcess::refresh(bool all) {
  const auto stat = sources_->procfs.read_stat(state_.pid);
  // Another process may have its number.
  if (stat ? stat->start_time != state_.start_time : means_gone(errno)) return set_gone();
  if (!stat) return;
  take_times(*stat);
  state_.parent = stat->parent;
  state_.name = stat->name;
  const bool was_zombie = state_.is_zombie;
  state_.is_zombie = has_ended(*stat);
  // A thread of the kernel never had memory.
  const bool gives_memory_back = is_ending(*stat) && state_.peak_bytes > 0;
  state_.threads = state_.is_zombie || gives_memory_back ? 0 : stat->threads;
  if (all || (state_.is_zombie && !was_zombie)) {
    read_status();
    read_io();
  }
  if (!all) return;
  read_mark();
  denies_proportional_ = false;
  are_threads_due_ = true;
}

void WatchedProcess::inherit(const ProcessState& child, TreeTotals& rest) noexcept {
  state_.uncounted.user += child.uncounted.user;
  state_.uncounted.all += child.uncounted.all;
  if (child.is_tracker) {
    state_.cpu.inherit_children_of(child.cpu);
    state_.activity.inherit_children_of(child.activity);
    return;
  }
  state_.cpu.inherit(child.cpu);
  state_.activity.inherit(child.activity);
  // The kernel counts these for no parent.
  for (std::size_t i = 0; i < rest.activity.totals.switches.size(); ++i) {
    rest.activity.totals.switches[i] += child.activity.switches.total()[i];
  }
  rest.activity.hides_switches |= child.hides_switches;
  ++rest.processes;
}

void WatchedProcess::read_after_child() {
  const auto stat = sources_->procfs.read_stat(state_.pid);
  if (!stat || stat->start_time != state_.start_time) return;
  take_times(*stat);
  read_io();
}

void WatchedProcess::take_times(const ProcessStat& stat) noexcept {
  if (!clock_) state_.cpu.update_own(ClockTicks(stat.user + stat.system));
  state_.cpu.update_waited(ClockTicks(stat.waited_user + stat.waited_system));
  state_.activity.minor_faults.update_own(stat.minor_faults);
  state_.activity.minor_faults.update_waited(stat.waited_minor_faults);
  state_.activity.major_faults.update_own(stat.major_faults);
  state_.activity.major_faults.update_waited(stat.waited_major_faults);
  const CpuTicks now = cpu_of(stat);
  const CpuTicks& before = state_.uncounted;
  if (now.all <= before.all || now.user < before.user) return;
  state_.user_share = std::min(1.0, ratio_of(now.user - before.user, now.all - before.all));
}

void WatchedProcess::read_status() {
  const auto status =
      text_at_start(sources_->procfs.open(state_.pid, ProcessFile::status), *sources_->status);
  if (status.empty()) return;
  take_peak(status);
  take_switches(status);
}

void WatchedProcess::take_peak(std::string_view status) noexcept {
  const auto peak = parse_peak_rss(status);
  if (!peak) return;
  if (!first_peak_bytes_) first_peak_bytes_ = peak;
  // An earlier peak does not count.
  if (*peak > *first_peak_bytes_) state_.peak_bytes = std::max(state_.peak_bytes, *peak);
}

void WatchedProcess::take_switches(std::string_view status) {
  const auto first = parse_switches(status);
  state_.hides_switches |= !first || state_.threads > kMostThreads;
  if (!first || state_.hides_switches) return;
  const Procfs& procfs = sources_->procfs;
  auto& switches = sources_->switches;
  switches.clear();
  switches.push_back({.number = state_.pid, .counts = *first});
  if (state_.threads > 1) {
    for (const pid_t thread : procfs.threads_of(state_.pid)) {
      if (thread == state_.pid) continue;
      if (const auto counts = parse_switches(
              text_at_start(procfs.open_status(state_.pid, thread), *sources_->status))) {
        switches.push_back({.number = thread, .counts = *counts});
      }
    }
    std::ranges::sort(switches, {}, &SwitchLedger::Thread::number);
  }
  state_.activity.switches.update(switches, knows_first_switches_);
  knows_first_switches_ = true;
}

void WatchedProcess::read_io() noexcept {
  errno = 0;
  LongText text;
  // Not kept open: the kernel denies it to others once the process executes another program.
  const auto values =
      parse_process_io(text_at_start(sources_->procfs.open(state_.pid, ProcessFile::io), text));
  if (!values) {
    const bool is_denied = means_denied(errno);
    // If the process is gone, its parent has its I/O.
    if (is_denied || sources_->procfs.open(state_.pid, ProcessFile::stat)) {
      state_.io_gap = is_denied ? IoGap::denied : IoGap::absent;
    }
    return;
  }
  state_.io_gap = IoGap::none;
  for (std::size_t i = 0; i < values->size(); ++i) {
    IoLedger& ledger = state_.activity.io[i];
    if (!knows_first_io_) ledger.begin((*values)[i]);
    ledger.update((*values)[i]);
  }
  knows_first_io_ = true;
}

/// Not only once: a tracker marks itself shortly after its start.
void WatchedProcess::read_mark() noexcept {
  constexpr unsigned kMarkReads = 3;
  if (state_.is_tracker || state_.is_root || mark_reads_ == kMarkReads) return;
  ++mark_reads_;
  state_.is_tracker = sources_->procfs.is_own() && sources_->marks.is_marked(state_.pid);
}

std::optional<ProportionalMemory> WatchedProcess::read_proportional() {
  // Not kept open: it shows only one program, and nothing once another one is executed.
  const Fd fd = sources_->procfs.open(state_.pid, ProcessFile::smaps_rollup);
  denies_proportional_ = !fd && means_denied(errno);
  LongText text;
  const auto memory = parse_smaps_rollup(text_at_start(fd, text));
  // It can have grown since `statm` was read, whose counters lag by some pages per processor.
  constexpr std::uint64_t kLagBytes = std::uint64_t{1} << 20U;
  constexpr std::uint64_t kPart = 128;
  std::uint64_t& rss = state_.memory.rss_bytes;
  if (memory && memory->rss_bytes > rss + rss / kPart + kLagBytes) {
    rss = memory->rss_bytes;
    state_.peak_bytes = std::max(state_.peak_bytes, rss);
  }
  return memory;
}

}  // namespace wattle
