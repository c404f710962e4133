// A text on a terminal that is kept up to date in place.
#pragma once

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

}  // namespace wattle::app
