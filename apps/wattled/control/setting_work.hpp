// Makes and restores the settings of a GPU, in a thread that may block.
#pragma once

#include <atomic>
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

/// Whom the making of a setting waits for. Thread-safe.
class SettingProgress {
 public:
  void begin_journal() noexcept { step_ = Step::writes_journal; }
  /// False: the setting was cancelled.
  [[nodiscard]] bool end_journal() noexcept { return move_on(Step::asks_driver); }
  /// True: it waits for the disk of the journal, and will not be made.
  [[nodiscard]] bool cancel() noexcept { return move_on(Step::is_cancelled); }

 private:
  enum class Step : std::uint8_t { asks_driver, writes_journal, is_cancelled };
  [[nodiscard]] bool move_on(Step to) noexcept {
    Step from = Step::writes_journal;
    return step_.compare_exchange_strong(from, to);
  }
  std::atomic<Step> step_{Step::asks_driver};
};

/// The journal could not be written in the time that clients wait.
[[nodiscard]] DeviceFault slow_journal(const SettingsJournal& journal);

/// Makes the settings of one call: one, or both clocks freed by a command. Blocks while the driver
/// or the command works, or the journal is written; calls `after_journal` then. The GPU is not read
/// during a call of its driver, and is during a command.
[[nodiscard]] std::optional<DeviceFault> make_settings(const GpuHandle& gpu,
                                                       std::span<const DeviceSetting> settings,
                                                       const SettingTools& tools,
                                                       SettingProgress& progress,
                                                       const Work& after_journal);

/// Restores all settings of the GPU that are in the journal, and logs that. Does not write the
/// journal's file. Blocks likewise.
void restore_settings(const GpuHandle& gpu, const SettingTools& tools);

}  // namespace wattle::daemon
