// Sets GPUs, and puts back what was set.
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

/// Each GPU is set in its own thread, between two of its readings: what several clients want of one
/// GPU happens one after the other, in the order of their requests. Threads: the loop's.
class GpuControl {
 public:
  /// `journal`: null where settings stay when the daemon ends. `commands`: null where drivers alone
  /// set GPUs.
  GpuControl(Gpus& gpus, std::shared_ptr<SettingsJournal> journal,
             std::shared_ptr<const CommandRunner> commands);

  using Then = std::function<void(const Gpus::Answers&)>;
  /// Makes all settings on each GPU; a fault is that of the first that failed. Calls `then` when
  /// all have answered, or did not in time.
  void set(const Ids& ids, std::vector<DeviceSetting> settings, Then then);

  /// Puts back what the journal holds of GPUs that are here, and calls `then` when that is done, or
  /// a driver takes too long. What could not be put back stays in the journal. A setting that
  /// somebody else has changed since is left alone.
  void restore(Work then);
  /// As `restore`, at the end of the daemon: from now on nothing is set.
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
