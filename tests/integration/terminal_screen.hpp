// What a terminal shows after the bytes that a program wrote: as much of a terminal as Wattle uses.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace wattle::integration {

/// Threads: a value type.
class TerminalScreen {
 public:
  TerminalScreen(std::size_t columns, std::size_t lines);

  /// Cursor addresses, clearing, characters of one column; other sequences change nothing.
  void take(std::string_view bytes);
  /// The lines, without the spaces at their ends.
  [[nodiscard]] std::string text() const;

 private:
  std::size_t sequence(std::string_view bytes);
  void put(std::string_view character);
  void clear();

  std::size_t columns_;
  std::vector<std::vector<std::string>> cells_;
  std::size_t column_ = 0;
  std::size_t line_ = 0;
};

}  // namespace wattle::integration
