// Makes and restores the settings of a GPU, in a thread that may block.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "control/command_runner.hpp"
#include "control/settings_journal.hpp"
#include "devices/gpus.hpp"
#include "sensors/device_setting.hpp"

namespace wattle::daemon {

/// Sets GPUs. Owned by the jobs that set them. Thread-safe.
struct SettingTools {
  std::shared_ptr<SettingsJournal> journal{};       ///< null: settings stay
  std::shared_ptr<const CommandRunner> commands{};  ///< null: only drivers set GPUs
};

/// The name of a GPU in the journal; empty: it has no permanent identity.
[[nodiscard]] std::string journal_name(const Sensor& sensor);

/// The setting that restores `change`.
[[nodiscard]] DeviceSetting setting_before(const ChangedSetting& change);

/// Makes the settings of one call: one, or both clocks freed by a command. Blocks while the driver
/// or the command works. The GPU is not read during a call of its driver, and is during a command.
[[nodiscard]] std::optional<DeviceFault> make_settings(const GpuHandle& gpu,
                                                       std::span<const DeviceSetting> settings,
                                                       const SettingTools& tools);

/// Restores all settings of the GPU that are in the journal, and logs that. Blocks likewise.
void restore_settings(const GpuHandle& gpu, const SettingTools& tools);

}  // namespace wattle::daemon
