// zeusd's seven operations that set a GPU.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "sensors/device_setting.hpp"

namespace wattle::daemon {

enum class ControlOperation : std::uint8_t {
  set_persistence_mode,
  set_power_limit,
  set_gpu_locked_clocks,
  reset_gpu_locked_clocks,
  set_mem_locked_clocks,
  reset_mem_locked_clocks,
  reset_locked_clocks,
};
/// The last part of each operation's route, in the order of `ControlOperation`.
inline constexpr std::array<std::string_view, 7> kControlNames = {
    "set_persistence_mode",    "set_power_limit",       "set_gpu_locked_clocks",
    "reset_gpu_locked_clocks", "set_mem_locked_clocks", "reset_mem_locked_clocks",
    "reset_locked_clocks"};
inline constexpr std::size_t kControlOperations = kControlNames.size();
static_assert(static_cast<std::size_t>(ControlOperation::reset_locked_clocks) ==
              kControlOperations - 1);

/// Threads: any.
[[nodiscard]] std::string_view name_of(ControlOperation operation) noexcept;

/// One operation and its values. Threads: a value type.
struct ControlCall {
  ControlOperation operation = ControlOperation::set_power_limit;
  /// A power limit in mW; 1 or 0 for on or off; the low and high clock in MHz. 0 for operations
  /// without values.
  std::array<std::uint32_t, 2> values{};

  friend bool operator==(const ControlCall&, const ControlCall&) = default;
};

/// The operation that does all of `settings`: one setting, or both clocks unlocked. Threads: any.
[[nodiscard]] ControlCall call_of(std::span<const DeviceSetting> settings);

}  // namespace wattle::daemon
