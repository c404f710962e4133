// The settings of a GPU that exclude each other: of one kind, the newest holds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sensors/device_setting.hpp"

namespace wattle::daemon {

enum class SettingKind : std::uint8_t {
  power_limit_mw,
  persistence_mode,
  gpu_clocks,
  memory_clocks
};
inline constexpr std::size_t kSettingKinds = 4;

[[nodiscard]] inline SettingKind kind_of(ClockKind clock) noexcept {
  return clock == ClockKind::gpu ? SettingKind::gpu_clocks : SettingKind::memory_clocks;
}

/// Locking a clock and freeing it are of one kind. Threads: any.
[[nodiscard]] inline SettingKind kind_of(const DeviceSetting& setting) noexcept {
  if (std::holds_alternative<PowerLimit>(setting)) return SettingKind::power_limit_mw;
  if (std::holds_alternative<PersistenceMode>(setting)) return SettingKind::persistence_mode;
  if (const auto* const locked = std::get_if<LockedClocks>(&setting)) return kind_of(locked->clock);
  return kind_of(std::get<FreeClocks>(setting).clock);
}

}  // namespace wattle::daemon
