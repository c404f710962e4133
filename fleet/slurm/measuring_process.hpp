// The process that measures a step on this node, seen from Slurm's step daemon.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace wattle::slurm {

/// Who a program runs as.
struct User {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups{};
};

/// `wattle step`, in a session of its own and no child of this process: nobody who waits for any
/// child gets it, and its CPU time is not among that of the tasks. It is connected by a socket,
/// whose end means, on both sides, that the other one is gone. No call throws, waits longer than
/// its arguments say, or raises a signal. Threads: one at a time.
class MeasuringProcess {
 public:
  MeasuringProcess() = default;
  MeasuringProcess(const MeasuringProcess&) = delete;
  MeasuringProcess& operator=(const MeasuringProcess&) = delete;
  MeasuringProcess(MeasuringProcess&&) = delete;
  MeasuringProcess& operator=(MeasuringProcess&&) = delete;
  ~MeasuringProcess() = default;  // a child of fork has a copy, and must not end it

  /// Starts `words`, whose first is a path, with these variables, in "/". False: errno has why.
  bool start(std::vector<std::string> words, std::vector<std::string> environment,
             const User& user) noexcept;
  [[nodiscard]] bool is_started() const noexcept { return socket_ >= 0; }

  /// Sends a line, which is lost where the process does not read.
  void send(std::string_view line) const noexcept;
  /// Waits until it has sent something (its window is open), or has ended.
  void wait_until_ready(std::chrono::milliseconds limit) const noexcept;

  struct Ending {
    bool is_killed = false;  ///< it had not ended in time
    std::string text{};      ///< what it wrote, at most 4 KiB
  };
  /// Waits for its end, and kills it and what it started at the limit.
  Ending end(std::chrono::milliseconds limit) noexcept;

 private:
  int socket_ = -1;
  pid_t group_ = -1;
};

/// Runs `words` as this user, with stdout to stderr, until it ends, or kills it at the limit.
void run_and_wait(std::vector<std::string> words, std::chrono::milliseconds limit) noexcept;

}  // namespace wattle::slurm
