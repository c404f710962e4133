// The checksum of the files of the history.
#pragma once

#include <cstdint>
#include <string_view>

namespace wattle::daemon {

/// CRC-32C (Castagnoli; RFC 3720, B.4) of `bytes`, continued from that of the bytes before them.
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0) noexcept;

}  // namespace wattle::daemon
