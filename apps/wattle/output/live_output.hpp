// Lines on stdout that a user or a program reads while the command runs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/files/fd.hpp"
#include "output/screen.hpp"

namespace wattle::app {

/// Never waits for its reader: lines are skipped if the reader is too slow. A line is written whole
/// or not at all. It may go out in parts: the rest waits until there is room. Threads: one at a
/// time.
class LiveOutput {
 public:
  /// `name` is for messages.
  LiveOutput(Fd fd, std::string name);
  /// Throws `WriteError` where stdout is closed.
  [[nodiscard]] static LiveOutput of_stdout();
  [[nodiscard]] static LiveOutput of_stderr();

  /// Writes `text` after `safe_output`. False if `text` was skipped, since the reader has not read
  /// what was written before. Throws `WriteError`, but not for a reader that is gone: then
  /// `is_over`.
  bool put(std::string_view text);
  bool put(const Redrawn& text);
  bool put(std::span<const Redrawn> texts);
  /// A part of what was put waits for room: `flush` when `fd` can be written to. Throws as `put`.
  [[nodiscard]] bool has_rest() const noexcept { return !rest_.empty(); }
  void flush();
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// Nobody reads any more.
  [[nodiscard]] bool is_over() const noexcept { return over_; }
  /// Writes what could not be written until now (full disk). Throws `WriteError`.
  void close();

 private:
  bool put_safe(std::string text);

  Fd fd_;
  std::string name_;
  std::string rest_;
  bool is_socket_;
  bool over_ = false;
};

}  // namespace wattle::app
