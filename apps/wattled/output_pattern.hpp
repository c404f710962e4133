// A pattern that the output of a failed command matches.
#pragma once

#include <regex.h>

#include <memory>
#include <string>
#include <string_view>

namespace wattle::daemon {

/// A regular expression as zeusd takes it, as far as POSIX's extended ones go: a leading `(?i)`
/// ignores case, `(?:` groups, `\d \w \s \b` and their opposites, `.` matches no line end. Threads:
/// any.
class OutputPattern {
 public:
  /// Throws `InvalidArgument` for what is none, and for what would mean something else here: other
  /// escapes of letters, other `(?`.
  explicit OutputPattern(std::string text);

  /// Some part of `output` matches.
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
