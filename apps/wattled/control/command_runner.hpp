// Runs the commands that set GPUs, in a helper process.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/files/fd.hpp"
#include "control/command_overrides.hpp"

namespace wattle::daemon {

/// The daemon gives up the right to start programs before it serves clients. The helper process
/// keeps the rights with which the daemon was started. It runs only the commands in the
/// administrator's file, with numbers as values. Thread-safe except the constructor.
class CommandRunner {
 public:
  /// Starts the process, which ends with this object or with the daemon. Call it while the program
  /// has one thread. Throws `Error` if the process cannot be started.
  explicit CommandRunner(CommandOverrides overrides);
  CommandRunner(const CommandRunner&) = delete;
  CommandRunner& operator=(const CommandRunner&) = delete;
  ~CommandRunner() = default;

  [[nodiscard]] bool has(ControlOperation operation) const noexcept {
    return overrides_.find(operation) != nullptr;
  }
  [[nodiscard]] const CommandOverrides& overrides() const noexcept { return overrides_; }
  /// The longest time that the commands of an operation can take. They are killed after their
  /// timeouts.
  [[nodiscard]] std::chrono::seconds longest(ControlOperation operation) const noexcept;

  /// Runs the operation's commands in order, up to the first that fails, and waits for them.
  /// Returns why that one failed, with its output, safe to print; absent: none failed. Requires
  /// `has(call.operation)`.
  [[nodiscard]] std::optional<std::string> run(const ControlCall& call, std::uint32_t gpu) const;

 private:
  CommandOverrides overrides_;
  Fd requests_;
};

}  // namespace wattle::daemon
