// Starts the command: forked early and small, held until everything is ready to measure it.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/fd.hpp"

namespace wattle::app {

/// Why a command could not be executed.
struct ExecFailure {
  int error_number = 0;
  /// 127 where it does not exist, 126 where it may not be executed.
  [[nodiscard]] int exit_status() const noexcept;
};

/// The signal state that a process passes on to the programs that it starts.
class InheritedSignals {
 public:
  /// As they are now.
  InheritedSignals() noexcept;
  /// Only calls that are safe in a forked child.
  void restore() const noexcept;

 private:
  sigset_t mask_{};
  struct sigaction child_ {};
  struct sigaction pipe_ {};
  struct sigaction file_size_ {};
};

/// The command's descriptors 0 to 2; -1: those of this process. They are to be close-on-exec and
/// above 2.
struct CommandStreams {
  int in = -1;
  int out = -1;
  int error = -1;
};

/// A forked process that waits for `release` and then becomes the command. It inherits everything
/// as it is at the construction: signals, limits, descriptors. If this process dies first, it
/// exits. Threads: one; constructed while there is only one.
class Launcher {
 public:
  /// `signals`: what the command gets, where this process has changed its own since. Throws `Error`
  /// where no process can be made.
  explicit Launcher(std::vector<std::string> command, const CommandStreams& streams = {},
                    const InheritedSignals& signals = {});

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// Lets it execute the command; once. `mark_socket`: the value of WATTLE_RUN in its environment;
  /// empty: as it is. Throws `Error` if that fails.
  void release(std::string_view mark_socket = {});
  [[nodiscard]] bool is_released() const noexcept { return !gate_; }
  /// Waits until it has executed the command, or failed to. Absent: the command runs, or a signal
  /// ended it before.
  [[nodiscard]] std::optional<ExecFailure> wait_for_exec();
  /// The launcher's own memory when it became the command. The kernel counts it into the command's
  /// peak. Known after `wait_for_exec`.
  [[nodiscard]] std::optional<std::uint64_t> own_peak_rss_bytes() const noexcept {
    return own_peak_rss_bytes_;
  }

 private:
  std::string name_;
  pid_t pid_ = -1;
  Fd gate_;    ///< written to by `release`
  Fd answer_;  ///< closed by a successful exec
  std::optional<std::uint64_t> own_peak_rss_bytes_;
};

}  // namespace wattle::app
