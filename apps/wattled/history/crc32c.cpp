#include "history/crc32c.hpp"

#include <array>
#include <cstddef>

namespace wattle::daemon {
namespace {

/// Table `i` has the effect of a byte that is followed by `i` others.
using CrcTables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr CrcTables make_crc_tables() {
  constexpr std::uint32_t kPolynomial = 0x82F6'3B78U;  // reflected
  CrcTables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ ((value & 1U) * kPolynomial);
    tables.at(0).at(i) = value;
  }
  for (std::size_t table = 1; table < tables.size(); ++table) {
    for (std::size_t i = 0; i < 256; ++i) {
      const std::uint32_t before = tables.at(table - 1).at(i);
      tables.at(table).at(i) = (before >> 8U) ^ tables.at(0).at(before & 0xFFU);
    }
  }
  return tables;
}

constexpr CrcTables kCrcTables = make_crc_tables();

/// After eight more bytes.
std::uint32_t crc_of_eight(std::uint32_t value, std::string_view bytes) noexcept {
  std::uint32_t next = 0;
  for (unsigned i = 0; i < 8; ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    const std::uint32_t before = i < 4 ? value >> (8 * i) : 0;
    next ^= kCrcTables[7 - i][static_cast<std::uint8_t>(byte ^ before)];
  }
  return next;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) noexcept {
  std::uint32_t value = ~before;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) value = crc_of_eight(value, bytes);
  for (const char each : bytes) {
    const auto index = static_cast<std::uint8_t>(value ^ static_cast<std::uint8_t>(each));
    value = (value >> 8U) ^ kCrcTables[0][index];
  }
  return ~value;
}

}  // namespace wattle::daemon
