// Numbers and texts as bytes, for the files of the history.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace wattle::daemon {

/// Appends values to a text. Numbers of varying size: 7 bits in a byte, the lowest first. Threads:
/// a value type.
class PackedWriter {
 public:
  void byte(std::uint8_t value) { bytes_ += static_cast<char>(value); }
  void fixed32(std::uint32_t value) { fixed(value, 4); }
  void fixed64(std::uint64_t value) { fixed(value, 8); }
  void real(double value) { fixed64(std::bit_cast<std::uint64_t>(value)); }
  void number(std::uint64_t value) {
    while (value >= 0x80U) {
      byte(static_cast<std::uint8_t>(value | 0x80U));
      value >>= 7U;
    }
    byte(static_cast<std::uint8_t>(value));
  }
  /// Small differences of both signs are short.
  void difference(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    number((bits << 1U) ^ (value < 0 ? ~std::uint64_t{0} : std::uint64_t{0}));
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }
  void raw(std::string_view value) { bytes_ += value; }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  void fixed(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i, value >>= 8U) byte(static_cast<std::uint8_t>(value));
  }
  std::string bytes_;
};

/// Reads them back. From the first value that is not there on, every value is 0 and `is_good` is
/// false. Threads: a value type.
class PackedReader {
 public:
  explicit PackedReader(std::string_view bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] bool is_good() const noexcept { return good_; }
  [[nodiscard]] bool is_at_end() const noexcept { return bytes_.empty(); }
  /// Bytes that are left.
  [[nodiscard]] std::size_t left() const noexcept { return bytes_.size(); }

  std::uint8_t byte() noexcept {
    if (bytes_.empty()) return static_cast<std::uint8_t>(fail());
    const auto value = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return value;
  }
  std::uint32_t fixed32() noexcept { return static_cast<std::uint32_t>(fixed(4)); }
  std::uint64_t fixed64() noexcept { return fixed(8); }
  double real() noexcept { return std::bit_cast<double>(fixed64()); }
  std::uint64_t number() noexcept {
    constexpr unsigned kBits = 64;
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < kBits; shift += 7) {
      const std::uint8_t part = byte();
      const std::uint64_t bits = part & 0x7FU;
      if ((bits << shift) >> shift != bits) return fail();
      value |= bits << shift;
      if ((part & 0x80U) == 0) return good_ ? value : 0;
    }
    return fail();
  }
  std::int64_t difference() noexcept {
    const std::uint64_t bits = number();
    return static_cast<std::int64_t>((bits >> 1U) ^ (~(bits & 1U) + 1U));
  }
  std::string_view text() noexcept {
    const std::uint64_t size = number();
    if (size > bytes_.size()) {
      fail();
      return {};
    }
    const std::string_view value = bytes_.substr(0, static_cast<std::size_t>(size));
    bytes_.remove_prefix(value.size());
    return value;
  }

 private:
  std::uint64_t fail() noexcept {
    good_ = false;
    bytes_ = {};
    return 0;
  }
  std::uint64_t fixed(std::size_t size) noexcept {
    if (bytes_.size() < size) return fail();
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) {
      value = (value << 8U) | static_cast<std::uint8_t>(bytes_[i]);
    }
    bytes_.remove_prefix(size);
    return value;
  }

  std::string_view bytes_;
  bool good_ = true;
};

}  // namespace wattle::daemon
