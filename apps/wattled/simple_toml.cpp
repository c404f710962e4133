#include "simple_toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/parse.hpp"
#include "base/split.hpp"
#include "base/text.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

bool is_bare(char c) noexcept { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; }

/// The character of an escape in a "basic" string; absent: invalid, or a code point (\u).
std::optional<char> unescaped(char c) noexcept {
  constexpr std::string_view kWritten = "btnfr\"\\";
  constexpr std::string_view kMeant = "\b\t\n\f\r\"\\";
  static_assert(kWritten.size() == kMeant.size());
  const std::size_t at = kWritten.find(c);
  return at == std::string_view::npos ? std::nullopt : std::optional(kMeant[at]);
}

/// Parses the text in one pass.
class TomlReader {
 public:
  explicit TomlReader(std::string_view text) : text_(text) {}

  std::vector<TomlTable> read() {
    std::vector<TomlTable> tables;
    while (skip_to_content()) {
      if (take('[')) {
        tables.push_back({.name = table_name(tables), .values = {}});
      } else {
        if (tables.empty()) fail("a key before the first table");
        add_value(tables.back());
      }
      end_line();
    }
    return tables;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    const auto line =
        std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    throw InvalidArgument(fmt::format("line {}: {}", line + 1, what));
  }

  [[nodiscard]] bool is_at_end() const noexcept { return at_ == text_.size(); }
  [[nodiscard]] char next() const noexcept { return is_at_end() ? '\n' : text_[at_]; }
  bool take(char wanted) noexcept {
    if (is_at_end() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted)) fail(fmt::format("'{}' is missing", wanted));
  }
  void skip_blanks() noexcept {
    while (next() == ' ' || next() == '\t' || next() == '\r') ++at_;
  }
  void skip_comment() noexcept {
    if (next() != '#') return;
    while (!is_at_end() && next() != '\n') ++at_;
  }
  /// Skips blanks, comments and empty lines. False: end of the text.
  bool skip_to_content() noexcept {
    while (!is_at_end()) {
      skip_blanks();
      skip_comment();
      if (!take('\n')) break;
    }
    return !is_at_end();
  }
  void end_line() {
    skip_blanks();
    skip_comment();
    if (!is_at_end() && !take('\n')) fail("the line has text after its value");
  }

  std::string bare_name() {
    skip_blanks();
    const std::size_t begin = at_;
    while (!is_at_end() && is_bare(next())) ++at_;
    std::string name(text_.substr(begin, at_ - begin));
    skip_blanks();
    if (name.empty()) fail("a name of letters, digits, '_' and '-' is missing");
    return name;
  }

  std::string table_name(const std::vector<TomlTable>& tables) {
    std::string name = bare_name();
    expect(']');
    if (std::ranges::find(tables, name, &TomlTable::name) != tables.end()) {
      fail(fmt::format("the table '{}' appears twice", name));
    }
    return name;
  }

  void add_value(TomlTable& table) {
    std::string key = bare_name();
    expect('=');
    skip_blanks();
    for (const auto& [known, value] : table.values) {
      if (known == key) fail(fmt::format("the key '{}' appears twice", key));
    }
    table.values.emplace_back(std::move(key), value());
  }

  TomlValue value() {
    if (next() == '"' || next() == '\'') return string();
    if (take('[')) return list();
    return number();
  }

  std::string string() {
    const char quote = next();
    if (text_.substr(at_).starts_with(std::string(3, quote))) {
      fail("a string over several lines: write it in one");
    }
    ++at_;
    std::string read;
    while (!take(quote)) {
      if (is_at_end() || next() == '\n') fail("a string has no end");
      const char c = text_[at_++];
      if (c != '\\' || quote == '\'') {
        read += c;
        continue;
      }
      const auto meant = unescaped(next());
      if (!meant) fail("unknown escape; use 'single quotes' for a plain backslash");
      read += *meant;
      ++at_;
    }
    return read;
  }

  std::vector<std::string> list() {
    std::vector<std::string> items;
    while (skip_to_content() && next() != ']') {
      if (next() != '"' && next() != '\'') fail("a list must contain strings");
      items.push_back(string());
      if (!skip_to_content() || !take(',')) break;
    }
    if (!skip_to_content()) fail("a list has no end");
    expect(']');
    return items;
  }

  std::uint64_t number() {
    const std::size_t begin = at_;
    while (!is_at_end() && (is_bare(next()) || next() == '+' || next() == '.')) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    const auto read = parse_unsigned<std::uint64_t>(word.substr(word.starts_with('+') ? 1 : 0));
    if (!read) {
      fail(fmt::format("'{}' is not a string, a list or a whole number", printable(word, 40)));
    }
    return *read;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<TomlTable> parse_simple_toml(std::string_view text) { return TomlReader(text).read(); }

}  // namespace wattle::daemon
