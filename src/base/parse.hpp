// Numbers in foreign text. No locale, no exceptions, no allocation.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

namespace wattle {

/// The whole of `text` as a decimal number; absent where anything else stands in it, or where the
/// number does not fit.
template <std::unsigned_integral T>
[[nodiscard]] std::optional<T> parse_unsigned(std::string_view text) noexcept {
  T value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

/// One number and nothing else but blanks around it, as a counter's file shows it.
[[nodiscard]] std::optional<std::uint64_t> parse_counter(std::string_view text) noexcept;

/// A finite decimal number, the whole of `text`; absent otherwise.
[[nodiscard]] std::optional<double> parse_double(std::string_view text) noexcept;

}  // namespace wattle
