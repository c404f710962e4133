// Changes GPU settings, and restores them.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "control/pending_settings.hpp"
#include "control/setting_work.hpp"
#include "devices/gpus.hpp"

namespace wattle::daemon {

/// A thread for each GPU makes its settings, one at a time: those that arrive faster supersede each
/// other (`PendingSettings`). The GPU's own thread does one call of the driver between two of its
/// readings. Threads: the loop's.
class GpuControl {
 public:
  /// `journal`: null: settings stay when the daemon ends. `commands`: null: only drivers set GPUs.
  GpuControl(Gpus& gpus, Loop& loop, std::shared_ptr<SettingsJournal> journal,
             std::shared_ptr<const CommandRunner> commands);

  enum class Caller : std::uint8_t { waits, goes_on };
  using Outcomes = std::map<wire::DeviceId, SettingOutcome>;
  using Then = std::function<void(const Outcomes&)>;
  /// Accepts `settings` for each GPU, and calls `then` when their outcomes are known, or when a
  /// caller that waits has waited too long: then they are withdrawn. Each GPU's fault is that of
  /// the first setting that failed. Returns why they are not accepted: then `then` is not called.
  [[nodiscard]] std::optional<DeviceFault> set(const Ids& ids,
                                               const std::vector<DeviceSetting>& settings,
                                               Caller caller, Then then);

  /// Restores the settings in the journal whose GPUs are present. Calls `then` when that is done,
  /// or a driver takes too long. A setting that cannot be restored stays in the journal. A setting
  /// that another program has changed since is left alone.
  void restore(Work then);
  /// As `restore`, at the end of the daemon, before all settings that are not being made: these
  /// fail, as do later calls of `set`.
  void end(Work then);

 private:
  struct Controlled {
    PendingSettings pending{};
    std::shared_ptr<Worker> thread = std::make_shared<Worker>();
    bool has_thread = false;                      ///< it could be started
    std::shared_ptr<SettingProgress> progress{};  ///< of the setting that is being made
    TimePoint asks_driver_since{};                ///< likewise
    std::size_t flushes = 0;                      ///< of the journal, that have not ended
  };
  struct Round;

  /// Why no setting is accepted for the GPU; absent: its thread runs.
  [[nodiscard]] std::optional<DeviceFault> refusal(Controlled& gpu, Caller caller) const;
  /// Starts the next setting of a GPU, if none is being made.
  void make_next(wire::DeviceId id);
  /// Writes what the settings of a GPU changed in the journal, when none of them waits.
  void flush_journal(wire::DeviceId id);
  void give_up(Round& round);
  /// Why a caller waits no longer for a setting that is being made.
  [[nodiscard]] DeviceFault why_late(const Controlled& gpu) const;
  [[nodiscard]] std::chrono::nanoseconds longest_command(
      std::span<const DeviceSetting> settings) const;
  /// The GPUs whose settings, or their file, may not be as they were.
  [[nodiscard]] Ids changed_gpus(const std::vector<ChangedSetting>& changed) const;
  /// How long `restore` waits.
  [[nodiscard]] std::chrono::nanoseconds restore_patience(
      const std::vector<ChangedSetting>& changed) const;

  Gpus& gpus_;
  Loop& loop_;
  SettingTools tools_;
  bool joins_clocks_;  ///< a command frees both clocks together
  std::map<wire::DeviceId, Controlled> controlled_;
  bool has_ended_ = false;
};

}  // namespace wattle::daemon
