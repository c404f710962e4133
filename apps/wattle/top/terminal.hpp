// The terminal of `wattle top`: raw keys, a screen of its own, and the user's terminal back at
// every end.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <optional>
#include <string>
#include <vector>

#include "base/files/fd.hpp"
#include "output/live_output.hpp"
#include "output/screen.hpp"

namespace wattle::app {

/// The terminal on stdout is another process group's. False where it is not the terminal of this
/// session.
[[nodiscard]] bool is_in_background() noexcept;

/// The bytes that make a screen with the lines `before` show `lines`.
[[nodiscard]] std::vector<Redrawn> changes(const std::vector<std::string>& before,
                                           const std::vector<std::string>& lines, ScreenSize size);

/// Takes the terminal over while it exists. Threads: one at a time.
class Terminal {
 public:
  Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  /// Draws what has changed; without escape sequences a screen below the other. False if the
  /// terminal has no room: then nothing is drawn. Throws `WriteError`.
  [[nodiscard]] bool draw(const std::vector<std::string>& lines, ScreenSize size);
  /// The next `draw` draws everything.
  void forget() noexcept { is_known_ = false; }
  /// Gives the terminal back, and takes it over again. Settings that another process group in the
  /// foreground has made stay as they are.
  void leave() noexcept;
  void enter() noexcept;

  /// The input from keys; absent at the end of input. Does not wait.
  [[nodiscard]] std::optional<std::string> read_keys() noexcept;
  /// To wait for keys; -1 where stdin is no terminal.
  [[nodiscard]] int input() const noexcept;
  [[nodiscard]] LiveOutput& output() noexcept { return out_; }
  [[nodiscard]] ScreenSize size() const noexcept { return screen_size(out_.fd(), 0); }

 private:
  [[nodiscard]] termios raw_settings() const noexcept;
  [[nodiscard]] bool has_own_settings() const noexcept;
  /// Writes at once, waiting for a moment; ignores failures.
  void write_now(std::string_view text) noexcept;

  LiveOutput out_;
  bool replaces_;                    ///< it has escape sequences
  std::optional<termios> before_{};  ///< absent where stdin is no terminal
  bool is_entered_ = false;
  bool has_input_ = false;
  bool is_known_ = false;  ///< the screen shows `shown_`
  ScreenSize size_{};
  std::vector<std::string> shown_{};
};

}  // namespace wattle::app
