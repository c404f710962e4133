// The administrator's commands that set GPUs instead of the drivers.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/control_call.hpp"
#include "control/output_pattern.hpp"

namespace wattle::daemon {

/// The commands of one operation.
struct CommandOverride {
  std::vector<std::vector<std::string>> commands;  ///< run in order; each is a list of words
  std::optional<OutputPattern> error_pattern;      ///< of stdout and stderr
  std::chrono::seconds timeout{60};                ///< of each command
};

/// The contents of the file of `--gpu-command-overrides`. Thread-safe once constructed.
class CommandOverrides {
 public:
  /// Throws `InvalidArgument` if the file cannot be read, belongs to another user, is writable by
  /// all, or has an invalid operation, key, placeholder or value.
  [[nodiscard]] static CommandOverrides load(const std::string& path);
  [[nodiscard]] static CommandOverrides parse(std::string_view text);

  /// Null: the driver does the operation.
  [[nodiscard]] const CommandOverride* find(ControlOperation operation) const noexcept;
  /// "set_power_limit, reset_locked_clocks".
  [[nodiscard]] std::string names() const;
  /// True if the file's group may change it: the daemon warns about that.
  [[nodiscard]] bool is_writable_by_group() const noexcept { return is_writable_by_group_; }

 private:
  std::array<std::optional<CommandOverride>, kControlOperations> overrides_;
  bool is_writable_by_group_ = false;
};

/// The words of a command, with `{gpu_id}`, `{power_limit_w}` etc. replaced by their values.
/// Threads: any.
[[nodiscard]] std::vector<std::string> fill_in(const std::vector<std::string>& words,
                                               const ControlCall& call, std::uint32_t gpu);

}  // namespace wattle::daemon
