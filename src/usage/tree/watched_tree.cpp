#include "usage/tree/watched_tree.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/cpu_time.hpp"
#include "base/files/file.hpp"
#include "base/text/split.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

[[noreturn]] void refuse(pid_t root, const std::string& reason) {
  throw InvalidArgument(fmt::format("cannot track process {}: {}", root, reason));
}

}  // namespace

WatchedTree::WatchedTree(const System& system, pid_t root, const TreeOptions& options)
    : sources_{.procfs = options.most_kept_files ? Procfs(system, *options.most_kept_files)
                                                 : Procfs(system)},
      adopter_(options.adopter),
      strangers_(options.strangers),
      text_(std::size_t{8} << 10U) {
  Procfs& procfs = sources_.procfs;
  const auto stat = root > 0 ? procfs.read_stat(root) : std::nullopt;
  if (!stat) {
    refuse(root, procfs.is_open() ? "there is no such process, or this user cannot see it"
                                  : "there is no procfs at " + system.procfs.string());
  }
  if (has_ended(*stat) || stat->start_time != options.start_time.value_or(stat->start_time)) {
    refuse(root, "it has ended");
  }
  if (adopter_) adopted_ = KeptFile(procfs, *adopter_, ProcessFile::children);
  sources_.lists_children = adopted_.is_kept() || procfs.open(root, ProcessFile::children);
  add(*stat, options.is_launcher ? Origin::launcher : Origin::root);
  if (processes_.empty()) refuse(root, "it has ended");
  if (!options.is_launcher) find_new();
  watched_since_ = procfs.is_own()
                       ? std::chrono::duration_cast<ClockTicks>(clock_time(CLOCK_BOOTTIME)).count()
                       : 0;
  if (procfs.is_own()) return;
  for (const WatchedProcess& process : processes_) {
    watched_since_ = std::max(watched_since_, process.state().start_time);
  }
}

void WatchedTree::add(const ProcessStat& stat, Origin origin) {
  WatchedProcess process(sources_, stat, origin);
  if (process.state().is_gone) return;
  places_.emplace(stat.pid, processes_.size());
  processes_.push_back(std::move(process));
}

void WatchedTree::add_descendant(const ProcessStat& stat) {
  add(stat, stat.start_time < watched_since_ ? Origin::earlier : Origin::later);
}

bool WatchedTree::is_new(pid_t pid) const noexcept {
  const bool is_self = sources_.procfs.is_own() && pid == ::getpid();
  return !is_self && !places_.contains(pid) && !strangers_.contains(pid);
}

void WatchedTree::find_new() {
  if (!sources_.lists_children) {
    scan();
    return;
  }
  // New processes are appended, so the loop reaches their children too.
  // NOLINTNEXTLINE(modernize-loop-convert)
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    add_listed([&] { return processes_[i].read_children(text_); });
    if (processes_[i].take_threads_due()) add_children_of_threads(processes_[i].state().pid);
  }
  if (adopter_) add_listed([&] { return adopted_.read(text_); });
}

/// `read` fills `text_` with a list of children. The buffer grows until the list fits, up to a
/// limit. There the last number may be cut off, and is ignored.
template <class Read>
void WatchedTree::add_listed(Read read) {
  ssize_t count = read();
  while (count == static_cast<ssize_t>(text_.size()) && text_.size() < kMaxFileBytes) {
    text_.resize(2 * text_.size());
    count = read();
  }
  if (count <= 0) return;
  std::string_view list(text_.data(), static_cast<std::size_t>(count));
  if (list.size() == text_.size()) list = list.substr(0, list.rfind(' ') + 1);
  while (!list.empty()) {
    const auto pid = parse_pid(take_word(list));
    if (!pid || !is_new(*pid)) continue;
    if (const auto stat = sources_.procfs.read_stat(*pid)) add_descendant(*stat);
  }
}

/// The kernel lists children with the thread that created them.
void WatchedTree::add_children_of_threads(pid_t pid) {
  for (const pid_t thread : sources_.procfs.threads_of(pid)) {
    if (thread == pid) continue;
    const Fd fd = sources_.procfs.open_children(pid, thread);
    if (fd) add_listed([&] { return read_pieces(fd.get(), text_); });
  }
}

void WatchedTree::scan() {
  std::vector<ProcessStat> others;
  for (const pid_t pid : sources_.procfs.processes()) {
    if (!is_new(pid)) continue;
    if (auto stat = sources_.procfs.read_stat(pid)) others.push_back(std::move(*stat));
  }
  const auto add_if_child = [&](const ProcessStat& stat) {
    if (!places_.contains(stat.parent) && stat.parent != adopter_) return false;
    add_descendant(stat);
    return true;
  };
  // Repeated, because a child can be listed before its parent.
  while (std::erase_if(others, add_if_child) > 0) {
  }
}

void WatchedTree::remove_gone() {
  std::erase_if(processes_, [](const WatchedProcess& process) {
    return process.state().is_gone && !process.state().is_root;
  });
  places_.clear();
  for (std::size_t i = 0; i < processes_.size(); ++i) places_.emplace(processes_[i].state().pid, i);
}

WatchedProcess* WatchedTree::find(pid_t pid) noexcept {
  const auto place = places_.find(pid);
  return place != places_.end() ? &processes_[place->second] : nullptr;
}

Kinship WatchedTree::kinship_of(pid_t pid) const {
  if (pid == root().pid) return Kinship::main;
  constexpr int kDeepest = 1000;
  for (int depth = 0; depth < kDeepest && pid > 1; ++depth) {
    if (places_.contains(pid)) return Kinship::descendant;
    const auto stat = sources_.procfs.read_stat(pid);
    if (!stat) return Kinship::unknown;
    if (stat->parent == adopter_) {
      return strangers_.contains(pid) ? Kinship::stranger : Kinship::descendant;
    }
    pid = stat->parent;
  }
  return Kinship::stranger;
}

std::string WatchedTree::mechanism() const {
  const std::string where =
      sources_.lists_children
          ? "/proc/PID/task/TID/children, of threads other than the first once a second"
          : "all of /proc at each tick (the kernel has no /proc/PID/task/TID/children)";
  return where + "; misses what lives between two ticks, and whose parent ended before it was seen";
}

}  // namespace wattle
