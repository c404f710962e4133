// Commands that set GPUs in place of their drivers, as the administrator has written them down.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control_call.hpp"
#include "output_pattern.hpp"

namespace wattle::daemon {

/// How one operation is done.
struct CommandOverride {
  std::vector<std::vector<std::string>> commands;  ///< one after the other, each by its words
  std::optional<OutputPattern> error_pattern;      ///< of stdout and stderr
  std::chrono::seconds timeout{60};                ///< of each command
};

/// What is in the file of `--gpu-command-overrides`. Threads: any, once made.
class CommandOverrides {
 public:
  /// Throws `InvalidArgument` where the file cannot be read or is not to be trusted (of another
  /// user, writable by all), or where an operation, a key, a placeholder or a value means nothing.
  [[nodiscard]] static CommandOverrides load(const std::string& path);
  [[nodiscard]] static CommandOverrides parse(std::string_view text);

  /// Null where the driver is asked.
  [[nodiscard]] const CommandOverride* find(ControlOperation operation) const noexcept;
  /// "set_power_limit, reset_locked_clocks".
  [[nodiscard]] std::string names() const;
  /// True where the file's group may change it, which is to be warned about.
  [[nodiscard]] bool is_writable_by_group() const noexcept { return is_writable_by_group_; }

 private:
  std::array<std::optional<CommandOverride>, kControlOperations> overrides_;
  bool is_writable_by_group_ = false;
};

/// The words of a command with the values in place of `{gpu_id}`, `{power_limit_w}` and so on.
/// Threads: any.
[[nodiscard]] std::vector<std::string> fill_in(const std::vector<std::string>& words,
                                               const ControlCall& call, std::uint32_t gpu);

}  // namespace wattle::daemon
