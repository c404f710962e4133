// How the cells of a table are written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wattle {

/// Turns lines into those that nvidia-smi and the run monitor write: cells between commas, without
/// quotes, numbers with a point. Threads: one at a time.
class TableDialect {
 public:
  /// Lines are as they should be.
  TableDialect() = default;
  /// `has_row_numbers`: the first cell of each line is a number of the row, or empty, and skipped.
  TableDialect(char separator, bool has_row_numbers) noexcept
      : is_plain_(false), separator_(separator), has_row_numbers_(has_row_numbers) {}

  /// Valid until the next call, and as long as `line`.
  [[nodiscard]] std::string_view plain(std::string_view line) {
    return is_plain_ ? line : rewritten(line);
  }
  [[nodiscard]] bool is_plain() const noexcept { return is_plain_; }
  /// "cells between semicolons"; empty for what is as it should be.
  [[nodiscard]] std::string note() const;

 private:
  enum class DecimalMark : std::uint8_t { unknown, point, comma };

  [[nodiscard]] std::string_view rewritten(std::string_view line);
  /// Takes a cell, without its quotes, off `rest`; false where there is none any more.
  bool take_cell(std::string_view& rest);
  /// Adds `cell_`, with a point where it has a decimal comma.
  void add_cell();

  bool is_plain_ = true;
  char separator_ = ',';
  bool has_row_numbers_ = false;
  DecimalMark mark_ = DecimalMark::unknown;  ///< of decimals, once a number showed it
  bool has_ended_ = false;                   ///< the line that is being read
  std::string cell_;
  std::string line_;
};

/// The dialects that a file may have that starts with these lines, the likeliest one first.
[[nodiscard]] std::vector<TableDialect> possible_dialects(const std::vector<std::string>& lines);

}  // namespace wattle
