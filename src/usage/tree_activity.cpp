// How a tree reader finds what processes do besides computing.
#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "base/file.hpp"
#include "usage/process_list.hpp"
#include "usage/tree_reader.hpp"

namespace wattle {
namespace {

/// /proc/PID/io and status are shorter.
using Text = std::array<char, 4096>;

/// Of a process with more threads, asking each once a second would take several milli-seconds.
constexpr std::uint64_t kMostThreads = 256;

std::string_view view(const Text& text, ssize_t count) noexcept {
  return {text.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

}  // namespace

void TreeReader::look_at_io(Watched& process) noexcept {
  errno = 0;
  // Not kept open: it belongs to one program, and is closed to others where another is executed.
  const Fd fd = procfs_.open(process.pid, ProcessFile::io);
  Text text;
  const ssize_t count = fd ? read_at_start(fd.get(), text) : -1;
  const auto values = parse_process_io(view(text, count));
  if (!values) {
    const bool is_denied = errno == EACCES || errno == EPERM;
    // Where it is gone, its parent has what it did.
    if (is_denied || procfs_.open(process.pid, ProcessFile::stat)) {
      process.io_gap = is_denied ? IoGap::denied : IoGap::absent;
    }
    return;
  }
  process.io_gap = IoGap::none;
  for (std::size_t i = 0; i < values->size(); ++i) {
    IoLedger& ledger = process.activity.io[i];
    if (process.was_there && !process.has_io) ledger.begin((*values)[i]);
    ledger.see((*values)[i]);
  }
  process.has_io = true;
}

void TreeReader::look_at_status(Watched& process) {
  const Fd fd = procfs_.open(process.pid, ProcessFile::status);
  Text text;
  const ssize_t count = fd ? read_at_start(fd.get(), text) : -1;
  if (count <= 0) return;
  look_at_peak(process, view(text, count));
  look_at_switches(process, view(text, count));
}

void TreeReader::look_at_switches(Watched& process, std::string_view status) {
  const auto first = parse_switches(status);
  process.hides_switches |= !first || process.threads > kMostThreads;
  if (!first || process.hides_switches) return;
  switches_.clear();
  switches_.push_back({.number = process.pid, .counts = *first});
  if (process.threads > 1) {
    for (const pid_t thread : threads_of(procfs_, process.pid)) {
      if (thread == process.pid) continue;
      const Fd fd = procfs_.open_status(process.pid, thread);
      Text text;
      const ssize_t count = fd ? read_at_start(fd.get(), text) : -1;
      if (const auto counts = parse_switches(view(text, count))) {
        switches_.push_back({.number = thread, .counts = *counts});
      }
    }
    std::ranges::sort(switches_, {}, &SwitchLedger::Thread::number);
  }
  process.activity.switches.see(switches_, !process.was_there || process.has_switches);
  process.has_switches = true;
}

/// Of one that is gone. `parent`: absent where it is not watched.
void TreeReader::bury_activity(const Watched& process, Watched* parent) noexcept {
  if (parent == nullptr) {
    process.activity.add_to(lost_activity_, process.is_tracker);
    if (!process.is_tracker && process.io_gap != IoGap::none) lost_io_gap_ = process.io_gap;
  } else if (process.is_tracker) {
    parent->activity.inherit_children_of(process.activity);
  } else {
    parent->activity.inherit(process.activity);
    // Nobody else tells these.
    for (std::size_t i = 0; i < lost_activity_.switches.size(); ++i) {
      lost_activity_.switches[i] += process.activity.switches.total()[i];
    }
  }
  lost_hides_switches_ |= !process.is_tracker && process.hides_switches;
}

TreeReader::Activity TreeReader::activity() const noexcept {
  Activity activity{
      .totals = lost_activity_, .io_gap = lost_io_gap_, .hides_switches = lost_hides_switches_};
  for (const Watched& process : watched_) {
    process.activity.add_to(activity.totals, process.is_tracker);
    if (process.is_tracker) continue;
    if (process.io_gap != IoGap::none) activity.io_gap = process.io_gap;
    activity.hides_switches |= process.hides_switches;
  }
  return activity;
}

}  // namespace wattle
