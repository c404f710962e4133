// The GPU settings from before the daemon changed them: a small file that outlives the daemon.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/fd.hpp"
#include "control/setting_kind.hpp"

namespace wattle::daemon {

/// A setting that the daemon changed.
struct ChangedSetting {
  std::string device;  ///< its id, without blanks
  SettingKind kind = SettingKind::power_limit_mw;
  std::uint64_t before = 0;  ///< mW, or 0 and 1; unused for clocks: they were not locked
  /// The daemon's value, likewise; absent while it is being set, and for clocks.
  std::optional<std::uint64_t> set{};

  bool operator==(const ChangedSetting&) const = default;
};

/// A setting is in the file before the device is changed. So the next daemon can restore the
/// settings of one that was killed. Thread-safe.
class SettingsJournal {
 public:
  /// Reads the file. Ignores invalid lines, and keeps a file with such lines as ".damaged". Does
  /// not read a link, nor a file that users other than root and `owner` can write. Throws `Error`
  /// if another daemon uses this journal.
  explicit SettingsJournal(std::string path, uid_t owner = ::geteuid());
  /// What is wrong with the existing file; empty: nothing.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  [[nodiscard]] std::vector<ChangedSetting> changed() const;
  [[nodiscard]] bool holds(std::string_view device, SettingKind kind) const;
  /// Records that a setting is about to change. If it was changed already, its first `before`
  /// stays. Returns 0, or the `errno` of writing the file: then nothing is recorded.
  [[nodiscard]] int begin(const ChangedSetting& change);
  /// Records the value that the device now reports.
  void finish(std::string_view device, SettingKind kind, std::optional<std::uint64_t> set);
  /// Removes a setting that is restored or needs no restoring.
  void forget(std::string_view device, SettingKind kind);
  void forget_all();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  /// The setting in `changed`, or its end.
  [[nodiscard]] static std::vector<ChangedSetting>::iterator find(
      std::vector<ChangedSetting>& changed, std::string_view device, SettingKind kind);
  [[nodiscard]] int save(const std::vector<ChangedSetting>& changed) const;

  /// Parses the valid lines of `text`.
  void take(const std::string& text);

  const std::string path_;
  std::string problem_;
  Fd folder_;  ///< locked for as long as this lives
  mutable std::mutex mutex_;
  std::vector<ChangedSetting> changed_;
};

}  // namespace wattle::daemon
