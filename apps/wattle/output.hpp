// Where a report goes: opened before the command starts, written after it ended.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/fd.hpp"

namespace wattle::app {

/// Descriptors 0 to 2 that are closed get a placeholder, so that no file of ours takes their
/// place; the command finds them closed as before. The first thing a program must do.
void hold_standard_descriptors() noexcept;

/// Opens or makes a file, to replace or to extend it, as `open_output`. `flags`: more of open(2)'s.
/// Throws `WriteError`.
[[nodiscard]] Fd open_for_writing(const std::string& path, bool append, int flags = 0,
                                  mode_t mode = 0666);

/// True if both are one regular file, by whatever names: they would overwrite each other.
[[nodiscard]] bool is_same_file(const Fd& a, const Fd& b) noexcept;

/// Threads: one at a time.
class Output {
 public:
  /// "-" is stdout. Throws `WriteError` where the file cannot be opened, `InvalidArgument` for a
  /// closed stdout.
  static Output open(const std::string& path, bool append);

  [[nodiscard]] const Fd& fd() const noexcept { return fd_; }

  /// For who writes by himself.
  [[nodiscard]] Fd release() && noexcept { return std::move(fd_); }
  /// Writes and closes; throws `WriteError`.
  void write(std::string_view text);

 private:
  Output(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  Fd fd_;
};

/// To stderr as far as that works; there is nobody to tell if it does not.
void write_to_stderr(std::string_view text) noexcept;

}  // namespace wattle::app
