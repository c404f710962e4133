#include "output/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/text/text_style.hpp"

namespace wattle::app {

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
