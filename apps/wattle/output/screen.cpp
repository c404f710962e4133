#include "output/screen.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/text/split.hpp"
#include "base/text/text_style.hpp"
#include "output/output.hpp"
#include "wattle/error.hpp"

namespace wattle::app {

ScreenSize screen_size(int fd, unsigned kept_lines) noexcept {
  winsize window{};
  const bool is_known = ::ioctl(fd, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
  if (!is_known || window.ws_row <= kept_lines) return {};
  return {window.ws_col, window.ws_row - kept_lines};
}

std::string fitted(std::string_view text, const TextStyle& style, std::size_t height,
                   std::size_t kept) {
  const auto all = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  // A long word that is not broken would break the terminal's line.
  const auto fits = [&](std::string_view line) {
    return style.width == 0 ? std::string(line) : cut(line, style.width);
  };
  std::size_t hidden = 0;
  if (all > height) hidden = std::min(all - std::min(all, kept), all + 1 - std::min(all, height));
  const std::size_t first_hidden = all - std::min(all, kept) - hidden;
  std::string result;
  for (std::size_t i = 0; i < all; ++i) {
    const std::string_view line = take_line(text);
    if (hidden > 0 && i == first_hidden) {
      result += fits(fmt::format("... {} lines more", hidden)) + "\n";
    }
    if (i >= first_hidden && i < first_hidden + hidden) continue;
    result += fits(line) + "\n";
  }
  return result;
}

Redrawn Screen::redraw(std::string text, ScreenSize size) {
  if (!replaces_)
    return {.movement = std::exchange(size_, size) ? "\n" : "", .text = std::move(text)};
  std::string back = lines_ == 0 ? "\r" : fmt::format("\x1b[{}A\r", lines_);
  // A terminal that was resized has broken or joined lines: how many there are is not known.
  if (size_ && size_ != size) back = "\x1b[2J\x1b[H";
  size_ = size;
  lines_ = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  return {.movement = back + "\x1b[J", .text = std::move(text)};
}

ScreenMessages::ScreenMessages(std::string_view command, bool waits,
                               std::function<bool(std::string_view)> skips)
    : command_(command), waits_(waits), skips_(std::move(skips)) {
  set_log([this](std::string_view message) { take(message); });
}

ScreenMessages::~ScreenMessages() {
  set_log({});
  for (const std::string& message : waiting_) print_message(command_, message);
}

void ScreenMessages::take(std::string_view message) {
  if (skips_ && skips_(message)) return;
  if (!waits_) return print_message(command_, message);
  constexpr std::size_t kMost = 20;
  if (waiting_.size() == kMost) waiting_.erase(waiting_.begin());
  waiting_.emplace_back(message);
}

bool can_replace_lines(int fd) noexcept {
  const char* term = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): nothing changes it
  return ::isatty(fd) == 1 && (term == nullptr || std::string_view(term) != "dumb");
}

Progress::Progress(std::string name, int fd)
    : name_(std::move(name)), fd_(fd), replaces_(can_replace_lines(fd)) {}

void Progress::show(std::string_view text, std::optional<double> part) {
  std::string line = fmt::format("{}: {}", name_, text);
  if (!replaces_) {
    if (!is_shown_) write(line + "\n");
    is_shown_ = true;
    return;
  }
  const TextStyle style = style_of(fd_);
  constexpr std::size_t kBar = 20;
  if (part)
    line = to_style_characters(fmt::format("{}: {} {}", name_, bar_text(*part, kBar), text), style);
  // A line that is wrapped could not be replaced.
  if (style.width > 1) line = cut(line, style.width - 1);
  write("\r\x1b[K" + line);
  is_shown_ = true;
}

void Progress::clear() noexcept {
  if (replaces_ && is_shown_) write("\r\x1b[K");
  is_shown_ = is_shown_ && !replaces_;
}

void Progress::write(std::string_view text) const noexcept {
  // A failure is ignored: this is progress only.
  static_cast<void>(::write(fd_, text.data(), text.size()) < 0);
}

std::string bar_text(double part, std::size_t width) {
  const auto full =
      static_cast<std::size_t>(std::clamp(part, 0.0, 1.0) * static_cast<double>(width));
  std::string text = "[";
  for (std::size_t i = 0; i < width; ++i) text += i < full ? "█" : " ";
  return text + "]";
}

std::string left_text(double part, std::chrono::nanoseconds elapsed) {
  const double elapsed_s = std::chrono::duration<double>(elapsed).count();
  return fmt::format("{:.0f} %, about {:.0f} s left", 100.0 * part,
                     std::ceil(elapsed_s * (1.0 - part) / part));
}

}  // namespace wattle::app
