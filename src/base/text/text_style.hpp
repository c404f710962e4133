// Text for a terminal: its width, its characters, its colours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wattle {

/// The capabilities of the output device. Default: all.
struct TextStyle {
  std::size_t width = 0;  ///< columns; 0: not limited
  bool color = false;     ///< escape sequences for bold, dim and colours
  bool unicode = true;    ///< false: ASCII alone
};

/// Style of the texts for a file descriptor. Width and colour: of a terminal alone, no colour where
/// NO_COLOR is set (and not empty) or TERM is dumb. Unicode: if the locale's characters are UTF-8,
/// by LC_ALL, LC_CTYPE, LANG.
[[nodiscard]] TextStyle style_of(int descriptor) noexcept;

/// The role of a part of a text. `good` and `bad` are colours, which add nothing to the words.
enum class Tint : std::uint8_t { bold, dim, good, bad };

/// `text` in the tint, where the style has colours.
[[nodiscard]] std::string colored(std::string_view text, Tint tint, const TextStyle& style);

/// How many columns `text` takes, without escape sequences: characters of East Asian scripts take
/// two, marks over a character none.
[[nodiscard]] std::size_t columns_of(std::string_view text) noexcept;

/// As much of `text` as `width` columns hold.
[[nodiscard]] std::string cut(std::string_view text, std::size_t width);

/// `text` in characters that the style has: without UTF-8, "+/-" for ± and "?" for what has no
/// spelling. Before it is put into columns, since that may be longer.
[[nodiscard]] std::string to_style_characters(std::string_view text, const TextStyle& style);

/// `to_style_characters`, with lines that are wider than the style broken at spaces. What follows
/// is indented by `indent` columns, or by two more than the line if that is 0. No word is broken,
/// and no number is parted from its unit.
[[nodiscard]] std::string wrapped(std::string_view text, const TextStyle& style,
                                  std::size_t indent = 0);

enum class Align : std::uint8_t { left, right };

/// Columns as wide as their widest cell, two spaces between them, each row with its line end. The
/// last cell of a row may be broken at spaces; the other cells never are.
class TextTable {
 public:
  /// `indent`: spaces in front of each row.
  TextTable(std::vector<Align> columns, TextStyle style, std::size_t indent);

  /// At most as many cells as there are columns; the others are empty.
  void add(const std::vector<std::string>& cells, bool is_dim = false);
  [[nodiscard]] std::string text() const;

 private:
  struct TextRow {
    std::vector<std::string> cells;
    bool is_dim;
  };

  std::vector<Align> columns_;
  TextStyle style_;
  std::size_t indent_;
  std::vector<TextRow> rows_{};
};

}  // namespace wattle
