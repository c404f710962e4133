// The progress of a command while its user waits.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace wattle::app {

/// It is a terminal that knows escape sequences.
[[nodiscard]] bool can_replace_lines(int fd) noexcept;

/// On a terminal one line that replaces itself; elsewhere the first text as a line, and no other.
/// Writes to stderr, and ignores failures. Threads: one at a time.
class Progress {
 public:
  /// `name`: of the command, "wattle sensors".
  explicit Progress(std::string name, int fd = STDERR_FILENO);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  /// `part`: of the work that is done, 0 to 1; a terminal shows it as a bar.
  void show(std::string_view text, std::optional<double> part = {});
  /// Takes the line away, so that something else can be written.
  void clear() noexcept;

 private:
  void write(std::string_view text) const noexcept;

  std::string name_;
  int fd_;
  bool replaces_;  ///< it is a terminal that can
  bool is_shown_ = false;
};

/// "[██████      ]": `part`, 0 to 1, of `width` columns.
[[nodiscard]] std::string bar_text(double part, std::size_t width);

/// "34 %, about 12 s left" of work whose `part` (above 0, at most 1) took `elapsed`.
[[nodiscard]] std::string left_text(double part, std::chrono::nanoseconds elapsed);

}  // namespace wattle::app
