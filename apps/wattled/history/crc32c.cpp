#include "history/crc32c.hpp"

#include <array>
#include <cstddef>

namespace wattle::daemon {
namespace {

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  constexpr std::uint32_t kPolynomial = 0x82F6'3B78U;  // reflected
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ ((value & 1U) * kPolynomial);
    table.at(i) = value;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kCrcTable = make_crc_table();

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) noexcept {
  std::uint32_t value = ~before;
  for (const char each : bytes) {
    const auto index = static_cast<std::uint8_t>(value ^ static_cast<std::uint8_t>(each));
    value = (value >> 8U) ^ kCrcTable[index];
  }
  return ~value;
}

}  // namespace wattle::daemon
