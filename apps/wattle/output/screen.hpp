// Texts on a terminal that are kept up to date in place: several lines, or one of progress.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/text_style.hpp"

namespace wattle::app {

/// How many columns and lines a text on a terminal may have.
struct ScreenSize {
  std::size_t columns = 80;
  std::size_t lines = 24;

  [[nodiscard]] bool operator==(const ScreenSize&) const noexcept = default;
};
/// The size of the terminal on `fd`, less the line of the cursor, or other lines that are kept
/// free.
[[nodiscard]] ScreenSize screen_size(int fd, unsigned kept_lines = 1) noexcept;

/// `text` in at most `height` lines, none wider than the style. Lines without room are counted
/// instead; the last `kept` ones always stay.
[[nodiscard]] std::string fitted(std::string_view text, const TextStyle& style, std::size_t height,
                                 std::size_t kept = 0);

/// Replaces a text on a terminal. Escape sequences other than colors are in `movement` alone.
struct Redrawn {
  std::string movement;
  std::string text;
};

/// Redraws a text; on a terminal without escape sequences, prints one below the other. Threads: one
/// at a time.
class Screen {
 public:
  /// `replaces`: the terminal has escape sequences.
  explicit Screen(bool replaces) noexcept : replaces_(replaces) {}

  /// The bytes that replace the text drawn before.
  [[nodiscard]] Redrawn redraw(std::string text, ScreenSize size);

 private:
  bool replaces_;
  std::size_t lines_ = 0;
  std::optional<ScreenSize> size_{};  ///< absent: nothing was drawn
};

/// Prints the library's messages while it exists, or at its end if a text is kept on the screen.
/// Threads: any.
class ScreenMessages {
 public:
  /// `skips`: true for a message that is shown in another way; may be empty.
  ScreenMessages(std::string_view command, bool waits,
                 std::function<bool(std::string_view)> skips = {});
  ScreenMessages(const ScreenMessages&) = delete;
  ScreenMessages& operator=(const ScreenMessages&) = delete;
  ~ScreenMessages();

 private:
  void take(std::string_view message);

  std::string command_;
  bool waits_;
  std::function<bool(std::string_view)> skips_;
  std::vector<std::string> waiting_{};  ///< guarded by the log: it calls one at a time
};

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
