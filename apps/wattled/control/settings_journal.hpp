// The GPU settings from before the daemon changed them: a small file that outlives the daemon.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <functional>
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
/// settings of one that was killed. Only `begin` and `flush` wait for the disk. Thread-safe.
class SettingsJournal {
 public:
  /// Replaces the file by one with this text. Returns 0 or an `errno`.
  using Write = std::function<int(const std::string& path, const std::string& text)>;

  /// Reads the file. Ignores invalid lines, and keeps a file with such lines as ".damaged". Does
  /// not read a link, nor a file that users other than root and `owner` can write. Throws `Error`
  /// if another daemon uses this journal. `write`: null: writes the file.
  explicit SettingsJournal(std::string path, uid_t owner = ::geteuid(), Write write = nullptr);
  /// The fault of the existing file; empty: none.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  [[nodiscard]] std::vector<ChangedSetting> changed() const;
  [[nodiscard]] bool holds(std::string_view device, SettingKind kind) const;
  /// Records that a setting is about to change. If it was changed already, its first `before`
  /// stays. Returns 0, or the `errno` of writing the file: then nothing is recorded. Writes nothing
  /// if the file has the setting without a value already.
  [[nodiscard]] int begin(const ChangedSetting& change);
  /// Notes the value that the device now reports. Until `flush`, the file has the setting without a
  /// value: the next daemon would restore it even if another program has changed it since.
  void finish(std::string_view device, SettingKind kind, std::optional<std::uint64_t> set);
  /// Removes a setting that is restored or needs no restoring; from the file when it is flushed.
  void forget(std::string_view device, SettingKind kind);
  void forget_all();
  /// Writes the file if it differs from `changed`. After a failure the file is as it was.
  void flush();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  /// The setting in `changed`, or its end.
  [[nodiscard]] static std::vector<ChangedSetting>::iterator find(
      std::vector<ChangedSetting>& changed, std::string_view device, SettingKind kind);
  [[nodiscard]] int save(const std::vector<ChangedSetting>& changed) const;
  /// Adds a setting that is about to change.
  static void mark(std::vector<ChangedSetting>& changed, const ChangedSetting& change);

  /// Parses the valid lines of `text`.
  void take(const std::string& text);

  const std::string path_;
  const Write write_;
  std::string problem_;
  Fd folder_;           ///< locked for as long as this lives
  std::mutex writing_;  ///< held while the file is written; locked before `mutex_`
  /// The contents of the file, guarded by `writing_`; absent: something else.
  std::optional<std::vector<ChangedSetting>> written_;
  mutable std::mutex mutex_;
  std::vector<ChangedSetting> changed_;
};

}  // namespace wattle::daemon
