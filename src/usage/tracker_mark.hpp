// How one tracker knows another: a socket whose name holds the process's number.
#pragma once

#include <sys/types.h>

#include <array>

#include "base/files/fd.hpp"

namespace wattle {

/// While it lives, trackers of other processes leave this one out of what they count. For a process
/// that does nothing but track. It is a socket in Linux's abstract namespace, which only processes
/// of the same network namespace see; its name holds the PID namespace too. Where it cannot be
/// had, this process is counted like any other. Threads: one at a time.
class TrackerMark {
 public:
  TrackerMark();

 private:
  Fd socket_;
};

/// Finds out which processes are marked. Threads: one at a time.
class TrackerMarks {
 public:
  /// `pid`: in this process's own PID namespace. The first call opens what it asks with.
  [[nodiscard]] bool is_marked(pid_t pid) noexcept;

 private:
  Fd socket_;
  std::array<char, 96> prefix_{};  ///< empty before the first call
};

}  // namespace wattle
