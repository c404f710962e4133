// Runs beside the command: forwards signals to it, stops when it stops, and waits for it and its
// descendants.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/files/fd.hpp"
#include "report/report.hpp"
#include "usage/process/process.hpp"
#include "wattle/system.hpp"

namespace wattle::app {

/// The use of all processes of the command together.
struct CollectedUsage {
  Seconds cpu_user{0};
  Seconds cpu_system{0};
  std::uint64_t peak_rss_bytes = 0;       ///< of the largest single process
  std::uint64_t main_peak_rss_bytes = 0;  ///< of the command and the children that it waited for
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
};

/// The result of `Supervisor::collect`.
struct CollectedCommand {
  Exit exit;
  CollectedUsage usage;
  /// Descendants that outlived the command, their use so far included in `usage`; absent where
  /// procfs does not show them.
  std::optional<std::vector<LiveProcess>> still_running;
};

/// From its construction on this process adopts orphaned descendants (subreaper), and the signals
/// INT, QUIT, TERM, HUP, USR1, USR2 and CHLD come to `fd()`, but for those that were ignored.
/// Threads: the main one, before any other exists (they inherit the blocked signals).
class Supervisor {
 public:
  /// `strangers`: children that this process had before it started `child`.
  Supervisor(pid_t child, std::set<pid_t> strangers);

  /// Readable when `handle` has something to do.
  [[nodiscard]] int fd() const noexcept { return signals_.get(); }

  /// Does what the signals that came ask for. True once the command has ended; its status is then
  /// still to be collected, and its processor time still in procfs.
  [[nodiscard]] bool handle() noexcept;

  /// Calls `handle` until the command has ended.
  void wait_until_ended() noexcept;

  /// After `handle` gave true: waits for the command and every descendant that has ended.
  [[nodiscard]] CollectedCommand collect(const System& system);
  /// The last of INT, QUIT, TERM and HUP that came, from any process.
  [[nodiscard]] std::optional<int> end_signal() const noexcept { return end_signal_; }
  /// Waits until the command has ended, if `collect` has not, and gives its status.
  [[nodiscard]] Exit wait_for_exit();

 private:
  [[nodiscard]] bool reap_orphans() noexcept;
  void reap_child();
  void follow_stop() noexcept;
  void add(const rusage& used) noexcept;

  pid_t child_;
  std::set<pid_t> strangers_;
  Fd signals_;
  CollectedUsage usage_;
  std::optional<int> end_signal_;
  std::optional<Exit> exit_;  ///< once it was waited for
};

/// Children that this process was born with (it was `exec`ed by a process that had some); they
/// and their descendants are not the command's.
[[nodiscard]] std::set<pid_t> children_before_start(const System& system);

}  // namespace wattle::app
