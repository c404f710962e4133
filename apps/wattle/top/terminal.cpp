#include "top/terminal.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "base/text/text_style.hpp"
#include "cli/waiting.hpp"
#include "output/screen.hpp"

namespace wattle::app {
namespace {

// Other screen, no cursor, no wrapping at the right edge; the mouse reports presses, by SGR.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?1000h\x1b[?1006h";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?1006l\x1b[?1000l\x1b[?7h\x1b[?25h\x1b[?1049l";

}  // namespace

bool is_in_background() noexcept {
  const pid_t foreground = ::tcgetpgrp(STDOUT_FILENO);
  return foreground > 0 && foreground != ::getpgrp();
}

std::vector<Redrawn> changes(const std::vector<std::string>& before,
                             const std::vector<std::string>& lines, ScreenSize size) {
  std::vector<Redrawn> redrawn;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i < before.size() && before[i] == lines[i]) continue;
    redrawn.push_back({.movement = fmt::format("\x1b[{};1H", i + 1), .text = lines[i]});
    // At the right edge the rest of the line would be its last character.
    if (columns_of(lines[i]) < size.columns) redrawn.push_back({.movement = "\x1b[K", .text = {}});
  }
  return redrawn;
}

Terminal::Terminal() : out_(LiveOutput::of_stdout()), replaces_(can_replace_lines(STDOUT_FILENO)) {
  termios before{};
  if (::tcgetattr(STDIN_FILENO, &before) == 0) before_ = before;
  has_input_ = before_.has_value();
  enter();
}

Terminal::~Terminal() { leave(); }

termios Terminal::raw_settings() const noexcept {
  termios raw = *before_;
  // Signals of keys stay: Ctrl-C and Ctrl-Z mean what they always mean.
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
  raw.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  return raw;
}

/// Another process group in the foreground may have set the terminal for itself.
bool Terminal::has_own_settings() const noexcept {
  if (!is_in_background()) return true;
  termios now{};
  const termios raw = raw_settings();
  return ::tcgetattr(STDIN_FILENO, &now) == 0 && now.c_lflag == raw.c_lflag &&
         now.c_iflag == raw.c_iflag;
}

void Terminal::enter() noexcept {
  if (before_) {
    const termios raw = raw_settings();
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  if (replaces_) write_now(kEnter);
  is_entered_ = true;
  is_known_ = false;
}

void Terminal::leave() noexcept {
  if (!is_entered_) return;
  is_entered_ = false;
  // Else a terminal with TOSTOP would stop this program here.
  sigset_t output;
  sigset_t before;
  ::sigemptyset(&output);
  ::sigaddset(&output, SIGTTOU);
  ::pthread_sigmask(SIG_BLOCK, &output, &before);
  if (replaces_) write_now(kLeave);
  // Input until now, typed or from the mouse, is not for the shell.
  if (before_ && has_own_settings()) {
    ::tcflush(STDIN_FILENO, TCIFLUSH);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Terminal::write_now(std::string_view text) noexcept {
  constexpr int kPatienceMs = 200;
  try {
    for (int i = 0; i < 2 && out_.has_rest(); ++i) {
      std::array<pollfd, 1> waited = {pollfd{.fd = out_.fd(), .events = POLLOUT, .revents = 0}};
      patient_poll(waited, kPatienceMs);
      out_.flush();
    }
    (void)out_.put(Redrawn{.movement = std::string(text), .text = {}});
  } catch (const std::exception&) {
    // There is no terminal any more.
  }
}

bool Terminal::draw(const std::vector<std::string>& lines, ScreenSize size) {
  if (!replaces_) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return out_.put(text);
  }
  const bool is_new = !is_known_ || size_ != size;
  std::vector<Redrawn> redrawn = changes(is_new ? std::vector<std::string>() : shown_, lines, size);
  if (is_new) redrawn.insert(redrawn.begin(), {.movement = "\x1b[0m\x1b[2J", .text = {}});
  if (redrawn.empty()) return true;
  if (!out_.put(redrawn)) return false;
  shown_ = lines;
  size_ = size;
  is_known_ = true;
  return true;
}

std::optional<std::string> Terminal::read_keys() noexcept {
  std::array<char, 1024> bytes;
  const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (count > 0) return std::string(bytes.data(), static_cast<std::size_t>(count));
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return std::string();
  // Nothing may be there any more, although there was.
  std::array<pollfd, 1> now = {pollfd{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}};
  if (count == 0 && ::poll(now.data(), now.size(), 0) == 0) return std::string();
  has_input_ = false;
  return std::nullopt;
}

int Terminal::input() const noexcept { return has_input_ ? STDIN_FILENO : -1; }

}  // namespace wattle::app
