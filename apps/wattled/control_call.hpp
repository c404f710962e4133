// zeusd's seven ways to set a GPU, by name and by number.
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
/// Of each, in their order: the last part of its route.
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
  /// mW; 1 or 0 (on or off); MHz, the low and the high end. 0 where the operation has none.
  std::array<std::uint32_t, 2> values{};

  friend bool operator==(const ControlCall&, const ControlCall&) = default;
};

/// The one operation that makes all of `settings`: one setting, or both clocks freed. Threads: any.
[[nodiscard]] ControlCall call_of(std::span<const DeviceSetting> settings);

}  // namespace wattle::daemon
