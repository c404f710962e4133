// git, asked something about a repository that may be anybody's.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace wattle::app {

/// Runs git in `worktree`, one command after the other, so that it starts no other program and
/// changes nothing: no monitor, no hook, no remote, no filter of those that were named. Threads:
/// none may run while it forks.
class GitCommand {
 public:
  /// All commands end by then, or are killed with the processes that they started.
  GitCommand(std::string worktree, TimePoint deadline)
      : worktree_(std::move(worktree)), deadline_(deadline) {}

  /// How a command ended, and what it wrote: at most 1 MiB.
  struct GitAnswer {
    std::optional<int> code;  ///< absent: killed, or it could not be started
    std::string out;
  };
  [[nodiscard]] GitAnswer run(const std::vector<std::string>& words);

  /// `-c` of each further command.
  void set(const std::string& name, const std::string& value);
  /// True if a command was killed because the deadline had come.
  [[nodiscard]] bool is_late() const noexcept { return is_late_; }
  /// Commands that did not end when they were killed: children of this process.
  [[nodiscard]] const std::set<pid_t>& left() const noexcept { return left_; }

 private:
  std::string worktree_;
  TimePoint deadline_;
  std::vector<std::string> settings_{};
  std::set<pid_t> left_{};
  bool is_late_ = false;
};

}  // namespace wattle::app
