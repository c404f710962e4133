// Runs the commands that set GPUs, in a process of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.hpp"
#include "command_overrides.hpp"

namespace wattle::daemon {

/// The daemon gives up the right to start programs before it serves anybody. What it may still do
/// is ask a process that it has started before, and that has the rights with which the daemon was
/// started: for one of the commands in the administrator's file, with numbers for its values.
/// Threads: any, but for the constructor.
class CommandRunner {
 public:
  /// Starts the process; it ends with this object, or with the daemon. To be called while the
  /// program has one thread. Throws `Error` where no process can be had.
  explicit CommandRunner(CommandOverrides overrides);
  CommandRunner(const CommandRunner&) = delete;
  CommandRunner& operator=(const CommandRunner&) = delete;
  ~CommandRunner() = default;

  [[nodiscard]] bool has(ControlOperation operation) const noexcept {
    return overrides_.find(operation) != nullptr;
  }
  [[nodiscard]] const CommandOverrides& overrides() const noexcept { return overrides_; }
  /// Longer the commands of an operation do not take: those that do are killed.
  [[nodiscard]] std::chrono::seconds longest(ControlOperation operation) const noexcept;

  /// Runs the operation's commands one after the other, up to the first that fails, and waits for
  /// them. Why one failed, with its output, safe to print; absent: none did. Only for an operation
  /// that it `has`.
  [[nodiscard]] std::optional<std::string> run(const ControlCall& call, std::uint32_t gpu) const;

 private:
  CommandOverrides overrides_;
  Fd requests_;
};

}  // namespace wattle::daemon
