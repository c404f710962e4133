#include "control/output_pattern.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

constexpr std::string_view kIgnoresCase = "(?i)";

[[noreturn]] void refuse_pattern(std::string_view text, std::string_view why) {
  throw InvalidArgument(fmt::format("'{}' is not a pattern: {}", printable(text), why));
}

/// The replacement for an escaped letter; empty: none, POSIX decides.
std::string_view replacement(char letter) noexcept {
  switch (letter) {
    case 'd':
      return "[0-9]";
    case 'D':
      return "[^0-9]";
    case 'n':
      return "\n";
    case 't':
      return "\t";
    default:
      return {};
  }
}

/// Converts a pattern of zeusd to POSIX.
class Translation {
 public:
  explicit Translation(std::string_view text) : whole_(text), rest_(text) {}

  std::string translate() {
    while (!rest_.empty()) {
      const char c = take();
      if (c == '\\') {
        escape();
      } else if (c == '[') {
        brackets();
      } else if (c == '.') {
        posix_ += "[^\n]";
      } else if (c == '(' && rest_.starts_with('?')) {
        group();
      } else {
        posix_ += c;
      }
    }
    return std::move(posix_);
  }

 private:
  char take() noexcept {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  void escape() {
    if (rest_.empty()) refuse_pattern(whole_, "it ends in a backslash");
    const char c = take();
    constexpr std::string_view kKnown = "wWsSbB";
    const std::string_view instead = replacement(c);
    if (!instead.empty()) {
      posix_ += instead;
    } else if ((is_letter(c) || is_digit(c)) && kKnown.find(c) == std::string_view::npos) {
      refuse_pattern(whole_, fmt::format("\\{} is not supported", c));
    } else {
      posix_.append({'\\', c});
    }
  }

  /// POSIX has no escapes in brackets: a pattern that needs one is refused.
  void brackets() {
    posix_ += '[';
    for (const char first : {'^', ']'}) {
      if (rest_.starts_with(first)) posix_ += take();
    }
    while (!rest_.empty() && rest_.front() != ']') {
      if (rest_.front() == '\\')
        refuse_pattern(whole_, "a backslash within brackets is not supported");
      const std::size_t class_end = rest_.starts_with("[:") ? rest_.find(":]") : 0;
      const std::size_t bytes =
          class_end == std::string_view::npos || class_end == 0 ? 1 : class_end + 2;
      posix_ += rest_.substr(0, bytes);
      rest_.remove_prefix(bytes);
    }
  }

  void group() {
    if (!rest_.starts_with("?:")) refuse_pattern(whole_, "this (? is not supported");
    rest_.remove_prefix(2);
    posix_ += '(';
  }

  std::string_view whole_;
  std::string_view rest_;
  std::string posix_;
};

}  // namespace

void OutputPattern::Free::operator()(regex_t* regex) const noexcept {
  ::regfree(regex);
  delete regex;  // NOLINT(cppcoreguidelines-owning-memory): a deleter
}

OutputPattern::OutputPattern(std::string text) : text_(std::move(text)) {
  std::string_view pattern = text_;
  int flags = REG_EXTENDED | REG_NOSUB;
  if (pattern.starts_with(kIgnoresCase)) {
    pattern.remove_prefix(kIgnoresCase.size());
    flags |= REG_ICASE;
  }
  auto compiled = std::make_unique<regex_t>();
  const int error = ::regcomp(compiled.get(), Translation(pattern).translate().c_str(), flags);
  if (error != 0) {
    std::array<char, 128> why{};
    ::regerror(error, compiled.get(), why.data(), why.size());
    refuse_pattern(text_, why.data());
  }
  regex_.reset(compiled.release());
}

bool OutputPattern::matches(std::string_view output) const {
  regmatch_t whole{.rm_so = 0, .rm_eo = static_cast<regoff_t>(output.size())};
  // Matches the whole output, also after a zero byte.
  return ::regexec(regex_.get(), output.data(), 1, &whole, REG_STARTEND) == 0;
}

}  // namespace wattle::daemon
