// The regular expression that recognizes the output of a failed command.
#pragma once

#include <regex.h>

#include <memory>
#include <string>
#include <string_view>

namespace wattle::daemon {

/// A regular expression of zeusd, within what POSIX extended ones can express: a leading `(?i)`
/// ignores case; `(?:` groups; `\d \w \s \b` and their opposites work; `.` matches no line end.
/// Thread-safe.
class OutputPattern {
 public:
  /// Throws `InvalidArgument` for an invalid expression, and for one with another meaning here:
  /// other escapes of letters, other `(?`.
  explicit OutputPattern(std::string text);

  /// True if a part of `output` matches.
  [[nodiscard]] bool matches(std::string_view output) const;
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  struct Free {
    void operator()(regex_t* regex) const noexcept;
  };
  std::string text_;
  std::unique_ptr<regex_t, Free> regex_;
};

}  // namespace wattle::daemon
