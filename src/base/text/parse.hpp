// Numbers in foreign text. No locale, no exceptions, no allocation.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text/split.hpp"

namespace wattle {

/// The whole of `text` as a number of that base; absent where anything else stands in it, or where
/// the number does not fit.
template <class T, class... Base>
[[nodiscard]] std::optional<T> parse_number(std::string_view text, Base... base) noexcept {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value, base...);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return value;
}
template <std::unsigned_integral T>
[[nodiscard]] std::optional<T> parse_unsigned(std::string_view text, int base = 10) noexcept {
  return parse_number<T>(text, base);
}

/// The numbers after `keys`, which lines of `text` start with, in that order; absent where one is
/// missing, or above `most`.
template <class T, std::size_t Size>
[[nodiscard]] std::optional<std::array<T, Size>> numbers_after(
    const std::array<std::string_view, Size>& keys, std::string_view text,
    std::uint64_t most) noexcept {
  std::array<T, Size> numbers{};
  std::size_t found = 0;
  while (!text.empty() && found < Size) {
    std::string_view line = take_line(text);
    if (take_word(line) != keys[found]) continue;
    const auto number = parse_unsigned<std::uint64_t>(take_word(line));
    if (!number || *number > most) return std::nullopt;
    numbers[found++] = static_cast<T>(*number);
  }
  return found == Size ? std::optional(numbers) : std::nullopt;
}

/// One number and nothing else but blanks around it, as a counter's file shows it.
[[nodiscard]] std::optional<std::uint64_t> parse_counter(std::string_view text) noexcept;

/// A finite decimal number, the whole of `text`; absent otherwise.
[[nodiscard]] std::optional<double> parse_double(std::string_view text) noexcept;

}  // namespace wattle
