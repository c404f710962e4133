// Tables that have an entry for each enumerator of an enum, in their order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace wattle {

/// The entry of `value`. A value that is no enumerator has the last one.
template <class Entry, std::size_t Size, class Enum>
[[nodiscard]] constexpr const Entry& entry_of(const std::array<Entry, Size>& table,
                                              Enum value) noexcept {
  return table[std::min(static_cast<std::size_t>(value), Size - 1)];
}

}  // namespace wattle
