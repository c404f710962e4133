// Changes GPU settings, and restores them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "command_runner.hpp"
#include "gpus.hpp"
#include "sensors/device_setting.hpp"
#include "settings_journal.hpp"

namespace wattle::daemon {

/// Each GPU is set in its own thread, between two of its readings. Requests for the same GPU run in
/// the order in which they arrive. Threads: the loop's.
class GpuControl {
 public:
  /// `journal`: null: settings stay when the daemon ends. `commands`: null: only drivers set GPUs.
  GpuControl(Gpus& gpus, std::shared_ptr<SettingsJournal> journal,
             std::shared_ptr<const CommandRunner> commands);

  using Then = std::function<void(const Gpus::Answers&)>;
  /// Makes all settings on each GPU; a GPU's fault is that of the first setting that failed. Calls
  /// `then` when all GPUs have answered or timed out.
  void set(const Ids& ids, std::vector<DeviceSetting> settings, Then then);

  /// Restores the settings in the journal whose GPUs are present. Calls `then` when that is done,
  /// or a driver takes too long. A setting that cannot be restored stays in the journal. A setting
  /// that another program has changed since is left alone.
  void restore(Work then);
  /// As `restore`, at the end of the daemon: later calls of `set` fail.
  void end(Work then);

 private:
  [[nodiscard]] std::chrono::nanoseconds patience_for(
      std::span<const DeviceSetting> settings) const;

  Gpus& gpus_;
  std::shared_ptr<SettingsJournal> journal_;
  std::shared_ptr<const CommandRunner> commands_;
  bool has_ended_ = false;
};

}  // namespace wattle::daemon
