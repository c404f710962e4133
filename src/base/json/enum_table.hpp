// Tables that have an entry for each enumerator of an enum, in their order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace wattle {

/// The entry of `value`. A value that is no enumerator has the last one.
template <class Entry, std::size_t Size, class Enum>
[[nodiscard]] constexpr const Entry& entry_of(const std::array<Entry, Size>& table,
                                              Enum value) noexcept {
  return table[std::min(static_cast<std::size_t>(value), Size - 1)];
}

/// The enumerator whose entry is `word`; absent if no entry is.
template <class Enum, class Entry, std::size_t Size>
[[nodiscard]] constexpr std::optional<Enum> enumerator_of(const std::array<Entry, Size>& table,
                                                          std::string_view word) noexcept {
  const auto* const found = std::ranges::find(table, word);
  if (found == table.end()) return std::nullopt;
  return static_cast<Enum>(found - table.begin());
}

}  // namespace wattle
