#include "output/screen.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <utility>

#include "base/text/split.hpp"
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

}  // namespace wattle::app
