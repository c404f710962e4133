#include "usage/tree_reader.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include "base/cpu_time.hpp"
#include "base/file.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

/// How often what changes slowly, or is known well enough from the CPU clock, is read.
/// A tick that comes a little early counts.
constexpr std::chrono::milliseconds kRefresh{950};
/// /proc/PID/stat and statm are shorter.
using ShortText = std::array<char, 1024>;

template <std::size_t Size>
std::string_view view(const std::array<char, Size>& text, ssize_t count) noexcept {
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

nanoseconds of_ticks(std::uint64_t ticks) noexcept {
  static const auto ns_per_tick =
      static_cast<std::uint64_t>(1'000'000'000 / std::max(::sysconf(_SC_CLK_TCK), 1L));
  return nanoseconds(ticks * ns_per_tick);
}

/// The time since boot in the unit of `ProcessStat::start_time`.
std::uint64_t ticks_since_boot() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const auto per_s = static_cast<std::uint64_t>(std::max(::sysconf(_SC_CLK_TCK), 1L));
  return static_cast<std::uint64_t>(now.tv_sec) * per_s +
         static_cast<std::uint64_t>(now.tv_nsec) * per_s / 1'000'000'000;
}

bool means_gone(int error) noexcept { return error == ESRCH || error == ENOENT; }

}  // namespace

TreeReader::TreeReader(const System& system, const Clock& clock, pid_t root,
                       const TreeOptions& options)
    : clock_(clock),
      options_(options),
      procfs_(options.most_kept_files ? Procfs(system, *options.most_kept_files) : Procfs(system)),
      root_(root),
      refreshed_(clock.now()),
      meminfo_path_((system.procfs / "meminfo").string()),
      text_(std::size_t{8} << 10U),
      budget_(options.pss, refreshed_) {
  const auto stat = root > 0 ? stat_of(root) : std::nullopt;
  if (!stat) {
    throw InvalidArgument(fmt::format("cannot track process {}: {}", root,
                                      procfs_.is_open()
                                          ? "there is no such process, or this user cannot see it"
                                          : "there is no procfs at " + system.procfs.string()));
  }
  const auto refuse_ended = [&] {
    throw InvalidArgument(fmt::format("cannot track process {}: it has ended", root));
  };
  if (has_ended(*stat) || stat->start_time != options.start_time.value_or(stat->start_time)) {
    refuse_ended();
  }
  // The kernel may list no children at all.
  if (options_.adopter) adopted_ = KeptFile(procfs_, *options_.adopter, ProcessFile::children);
  scans_ = !adopted_.is_kept() && !procfs_.open(root, ProcessFile::children);
  watch(*stat, true);
  if (watched_.empty()) refuse_ended();
  began_ticks_ = UINT64_MAX;  // whoever is found now was there before
  if (!options_.is_launcher) find_children();
  began_ticks_ = 0;
  if (procfs_.is_own()) {
    began_ticks_ = ticks_since_boot();
  } else {
    for (const Watched& process : watched_) {
      began_ticks_ = std::max(began_ticks_, process.start_time);
    }
  }
  sum();
  options_.is_launcher = false;
}

std::optional<ProcessStat> TreeReader::stat_of(pid_t pid) const {
  errno = 0;
  const Fd fd = procfs_.open(pid, ProcessFile::stat);
  ShortText text;
  const ssize_t count = fd ? read_at_start(fd.get(), text) : -1;
  if (count <= 0) return std::nullopt;
  auto stat = parse_process_stat(view(text, count));
  return stat && stat->pid == pid ? stat : std::nullopt;
}

TreeReader::Watched* TreeReader::find(pid_t pid) noexcept {
  const auto place = places_.find(pid);
  return place != places_.end() ? &watched_[place->second] : nullptr;
}

/// `was_there`: before the tree came under watch.
void TreeReader::watch(const ProcessStat& stat, bool was_there) {
  Watched process;
  process.pid = stat.pid;
  process.parent = stat.parent;
  process.start_time = stat.start_time;
  process.name = stat.name;
  process.statm = KeptFile(procfs_, stat.pid, ProcessFile::statm);
  if (!scans_) process.children = KeptFile(procfs_, stat.pid, ProcessFile::children);
  process.has_clock = procfs_.is_own() && ::clock_getcpuclockid(stat.pid, &process.clock) == 0;
  process.was_there = was_there;
  if (was_there) {
    const auto own = process.has_clock ? cpu_time(process.clock) : std::nullopt;
    process.cpu = CpuLedger(own.value_or(of_ticks(stat.user + stat.system)),
                            of_ticks(stat.waited_user + stat.waited_system));
    process.activity.minor_faults = {stat.minor_faults, stat.waited_minor_faults};
    process.activity.major_faults = {stat.major_faults, stat.waited_major_faults};
  } else {
    process.first_peak_bytes = 0;
  }
  if (was_there && options_.is_launcher) {
    // It has done nothing, has no child, and cannot give its number to another process: nobody has
    // waited for it. The memory of the program that it executes is another one.
    process.first_peak_bytes = 0;
    process.has_io = process.has_switches = true;
    process.threads = 1;
  } else {
    look_at(process, true);
  }
  if (process.is_gone) return;
  places_.emplace(stat.pid, watched_.size());
  watched_.push_back(std::move(process));
  if (!watched_.back().is_tracker) ++seen_;
}

void TreeReader::look_at(Watched& process, bool all) {
  // The clock goes by the number alone: what it says is the process's only if that lives after.
  const auto own = process.has_clock ? cpu_time(process.clock) : std::nullopt;
  ShortText text;
  const ssize_t count = process.statm.read(text);
  if (count < 0 && means_gone(errno)) {
    process.is_gone = true;
    return;
  }
  if (own) process.cpu.see_own(*own);
  const auto memory = parse_statm(view(text, count));
  if (memory) {
    process.memory = *memory;
    process.peak_bytes = std::max(process.peak_bytes, memory->rss_bytes);
  }
  const bool may_have_ended = memory && memory->rss_bytes == 0;
  if (all || !own || may_have_ended) {
    refresh(process, all);
  }
}

void TreeReader::refresh(Watched& process, bool all) {
  const auto stat = stat_of(process.pid);
  if (!stat) {
    process.is_gone = means_gone(errno);
    return;
  }
  if (stat->start_time != process.start_time) {
    process.is_gone = true;  // and somebody else has its number
    return;
  }
  take_times(process, *stat);
  if (process.pid == root_ && has_ended(*stat)) state_.has_ended = true;
  process.parent = stat->parent;
  process.name = stat->name;
  const bool ends = has_ended(*stat) && process.threads > 0;
  process.threads = has_ended(*stat) ? 0 : stat->threads;
  if (all || ends) {
    look_at_status(process);
    look_at_io(process);
  }
  if (!all) return;
  look_for_mark(process);
  process.is_denied = false;
  process.lists_threads = true;
}

/// A tracker that has just begun marks itself a moment later: so not only at its first look.
void TreeReader::look_for_mark(Watched& process) noexcept {
  constexpr unsigned kLooks = 3;
  if (process.is_tracker || process.looks_for_mark == kLooks || process.pid == root_) return;
  ++process.looks_for_mark;
  process.is_tracker = procfs_.is_own() && marks_.is_marked(process.pid);
  if (process.is_tracker && places_.contains(process.pid)) --seen_;
}

void TreeReader::take_times(Watched& process, const ProcessStat& stat) noexcept {
  if (!process.has_clock) process.cpu.see_own(of_ticks(stat.user + stat.system));
  process.cpu.see_waited(of_ticks(stat.waited_user + stat.waited_system));
  process.activity.minor_faults.see_own(stat.minor_faults);
  process.activity.minor_faults.see_waited(stat.waited_minor_faults);
  process.activity.major_faults.see_own(stat.major_faults);
  process.activity.major_faults.see_waited(stat.waited_major_faults);
  const std::uint64_t user = stat.user + stat.waited_user;
  const std::uint64_t all = user + stat.system + stat.waited_system;
  if (all > 0) process.user_share = static_cast<double>(user) / static_cast<double>(all);
}

void TreeReader::look_at_peak(Watched& process, std::string_view status) noexcept {
  const auto peak = parse_peak_rss(status);
  if (!peak) return;
  if (!process.first_peak_bytes) process.first_peak_bytes = peak;
  // A peak from before does not count.
  if (*peak > *process.first_peak_bytes) process.peak_bytes = std::max(process.peak_bytes, *peak);
}

void TreeReader::forget_peaks() noexcept {
  peaks_ = {};
  for (Watched& process : watched_) process.peak_bytes = 0;
}

const TreeState& TreeReader::read() {
  if (!state_.has_ended) tick(clock_.now() - refreshed_ >= kRefresh);
  return state_;
}

const TreeState& TreeReader::read_all() {
  if (!state_.has_ended) tick(true);
  return state_;
}

void TreeReader::tick(bool all) {
  const TimePoint now = clock_.now();
  budget_.advance(now);
  state_.is_complete = all;
  if (all) refreshed_ = now;
  for (Watched& process : watched_) look_at(process, all);
  bury();
  find_children();
  sum();
}

nanoseconds TreeReader::counted(const Watched& process) noexcept {
  return process.is_tracker ? process.cpu.children() : process.cpu.total();
}

/// Those that are gone leave their time to their parents.
void TreeReader::bury() {
  const auto is_gone = [](const Watched& process) { return process.is_gone; };
  if (std::ranges::none_of(watched_, is_gone)) return;
  std::vector<pid_t> heirs;
  // Children first: a parent that is gone too hands on what it gets.
  for (std::size_t i = watched_.size(); i-- > 0;) {
    const Watched& process = watched_[i];
    if (!process.is_gone) continue;
    if (!process.is_tracker) peaks_.see(process.peak_bytes, process.pid == root_);
    if (process.pid == root_) {
      state_.has_ended = true;
      continue;
    }
    Watched* const parent = find(process.parent);
    bury_activity(process, parent);
    if (parent == nullptr) {
      const auto lost = counted(process);
      lost_ += lost;
      lost_user_ns_ += process.user_share * static_cast<double>(lost.count());
      continue;
    }
    if (process.is_tracker) {
      parent->cpu.inherit_children_of(process.cpu);
    } else {
      parent->cpu.inherit(process.cpu);
    }
    if (!parent->is_gone) heirs.push_back(process.parent);
  }
  // Only now they can be asked what they waited for: it includes the whole time of the gone.
  std::ranges::sort(heirs);
  heirs.erase(std::unique(heirs.begin(), heirs.end()), heirs.end());
  for (const pid_t pid : heirs) {
    Watched& heir = *find(pid);
    const auto stat = stat_of(pid);
    if (stat && stat->start_time == heir.start_time) {
      take_times(heir, *stat);
      look_at_io(heir);
    }
  }
  // The root stays, with what was last seen of it.
  std::erase_if(watched_,
                [&](const Watched& process) { return process.is_gone && process.pid != root_; });
  places_.clear();
  for (std::size_t i = 0; i < watched_.size(); ++i) places_.emplace(watched_[i].pid, i);
}

void TreeReader::sum() {
  read_proportional();
  TreeState state = state_;
  state.main = state.descendants = state.combined = {};
  nanoseconds below = lost_;
  for (const Watched& process : watched_) {
    const bool is_main = process.pid == root_;
    GroupState& group = is_main ? state.main : state.descendants;
    below += is_main ? process.cpu.children() : counted(process);
    if (is_main) group.cpu = process.cpu.own();
    if (process.is_tracker) continue;
    group.threads += process.threads;
    ++group.processes;
    peaks_.see(process.peak_bytes, is_main);
  }
  sum_memory(state);
  // The kernel counts children in ticks, so a sum can fall by less than one where a process ends.
  state.main.cpu = std::max(state.main.cpu, state_.main.cpu);
  state.descendants.cpu = std::max(below, state_.descendants.cpu);
  state.at = clock_.now();
  state_ = state;
}

}  // namespace wattle
