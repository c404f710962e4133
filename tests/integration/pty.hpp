// A terminal with the test in the place of its user.
#pragma once

#include <termios.h>

#include <string>
#include <string_view>

#include "base/files/fd.hpp"

namespace wattle::integration {

/// Threads: one at a time.
class Pty {
 public:
  /// False where this system gives no terminals (devpts is not mounted); tests then skip.
  [[nodiscard]] static bool available() noexcept;

  Pty();

  /// In a new process: it leads a new session, with this terminal, and has it as 0 to 2.
  void become_terminal() const;

  /// How wide and how high it is. The program gets a signal.
  void resize(unsigned short columns, unsigned short lines = 24) const;
  /// Takes what the program has written by now.
  void take();
  /// How the program has set it.
  [[nodiscard]] termios settings() const;
  /// As from the keyboard.
  void type(std::string_view keys) const;
  /// Waits until `text` is on the screen.
  [[nodiscard]] bool shows(std::string_view text);
  /// Waits until the program has ended that it is the terminal of, and returns what that printed.
  [[nodiscard]] std::string text_to_the_end();
  /// Everything that was on the screen so far.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// The line is cut.
  void hang_up() noexcept { master_.reset(); }

 private:
  Fd master_;
  std::string slave_path_;
  std::string text_;
};

}  // namespace wattle::integration
