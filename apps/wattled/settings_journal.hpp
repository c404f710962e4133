// What GPUs were set to before the daemon changed it: a small file that outlives the daemon.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"

namespace wattle::daemon {

/// What can be put back.
enum class SettingKind : std::uint8_t {
  power_limit_mw,
  persistence_mode,
  gpu_clocks,
  memory_clocks
};

/// A setting that the daemon changed.
struct ChangedSetting {
  std::string device;  ///< its id, without blanks
  SettingKind kind = SettingKind::power_limit_mw;
  std::uint64_t before = 0;  ///< mW, or 0 and 1; of clocks nothing: they were not locked
  /// By the daemon, likewise; absent while it is being set, and for clocks.
  std::optional<std::uint64_t> set{};

  bool operator==(const ChangedSetting&) const = default;
};

/// Is in the file before a device is changed, so that what a daemon that was killed has set can be
/// put back by the next one. Threads: any.
class SettingsJournal {
 public:
  /// Takes what is in the file; a line that means nothing is left out, and a file with such lines
  /// is kept beside it, as ".damaged". A link, and a file that other users than root and `owner`
  /// could have written, are not read. Throws `Error` where another daemon has this journal.
  explicit SettingsJournal(std::string path, uid_t owner = ::geteuid());
  /// What is wrong with the file that was there; empty: nothing.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  [[nodiscard]] std::vector<ChangedSetting> changed() const;
  [[nodiscard]] bool holds(std::string_view device, SettingKind kind) const;
  /// The setting is about to be changed from `before`; where it was changed already, what was
  /// before that stays. 0, or the `errno` of writing the file: then nothing is remembered.
  [[nodiscard]] int begin(const ChangedSetting& change);
  /// It has been set, to what the device says now.
  void finish(std::string_view device, SettingKind kind, std::optional<std::uint64_t> set);
  /// The setting is as it was, or nobody's affair any more.
  void forget(std::string_view device, SettingKind kind);
  void forget_all();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  /// The place of a setting, or the end.
  [[nodiscard]] static std::vector<ChangedSetting>::iterator find(
      std::vector<ChangedSetting>& changed, std::string_view device, SettingKind kind);
  [[nodiscard]] int save(const std::vector<ChangedSetting>& changed) const;

  /// What can be understood.
  void take(const std::string& text);

  const std::string path_;
  std::string problem_;
  Fd folder_;  ///< locked for as long as this lives
  mutable std::mutex mutex_;
  std::vector<ChangedSetting> changed_;
};

}  // namespace wattle::daemon
