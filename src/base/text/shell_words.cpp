#include "base/text/shell_words.hpp"

#include <algorithm>

#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

constexpr std::string_view kWordBlanks = " \t\n\r";

[[noreturn]] void refuse_command(std::string_view command, std::string_view why) {
  throw InvalidArgument("the command '" + printable(command) +
                        "' cannot be cut into words: " + std::string(why));
}

class Splitter {
 public:
  explicit Splitter(std::string_view command) : whole_(command), rest_(command) {}

  std::vector<std::string> split() {
    std::vector<std::string> words;
    while (skip_to_word()) words.push_back(word());
    return words;
  }

 private:
  char take() noexcept {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  [[nodiscard]] bool is_at_blank() const noexcept {
    return kWordBlanks.find(rest_.front()) != std::string_view::npos;
  }

  bool skip_to_word() noexcept {
    while (!rest_.empty()) {
      if (rest_.front() == '#') {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else if (!is_at_blank()) {
        return true;
      } else {
        (void)take();
      }
    }
    return false;
  }

  std::string word() {
    std::string read;
    while (!rest_.empty() && !is_at_blank()) {
      const char c = take();
      if (c == '\'' || c == '"') {
        read += quoted(c);
      } else if (c == '\\') {
        if (rest_.empty()) refuse_command(whole_, "it ends in a backslash");
        read += take();
      } else {
        read += c;
      }
    }
    return read;
  }

  /// Within double quotes a backslash takes away the meaning of what has one there.
  std::string quoted(char quote) {
    std::string read;
    while (!rest_.empty()) {
      const char c = take();
      if (c == quote) return read;
      constexpr std::string_view kMeaningful = "$`\"\\";
      const bool escapes = quote == '"' && c == '\\' && !rest_.empty() &&
                           kMeaningful.find(rest_.front()) != std::string_view::npos;
      read += escapes ? take() : c;
    }
    refuse_command(whole_, "a quote has no end");
  }

  std::string_view whole_;
  std::string_view rest_;
};

}  // namespace

std::vector<std::string> split_words(std::string_view command) { return Splitter(command).split(); }

}  // namespace wattle
