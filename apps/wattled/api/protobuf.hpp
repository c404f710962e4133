// Writes messages of Protocol Buffers, as https://protobuf.dev/programming-guides/encoding/ has
// them.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace wattle::daemon {

/// A message, field by field. Threads: a value type.
class ProtobufMessage {
 public:
  /// Adds a uint32, uint64 or enum.
  void add_number(unsigned field, std::uint64_t value) {
    add_key(field, kVarint);
    add_varint(value);
  }
  /// Adds a sint32 or sint64.
  void add_signed(unsigned field, std::int64_t value) { add_number(field, zigzag(value)); }
  /// Adds a double.
  void add_real(unsigned field, double value) {
    constexpr unsigned kBytes = 8;
    add_key(field, kFixed64);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (unsigned i = 0; i < kBytes; ++i) bytes_ += static_cast<char>((bits >> (8 * i)) & 0xFFU);
  }
  /// Adds a string (`bytes`: UTF-8), bytes, or a message.
  void add_bytes(unsigned field, std::string_view bytes) {
    add_key(field, kLengthDelimited);
    add_delimited(bytes);
  }
  void add(unsigned field, const ProtobufMessage& message) { add_bytes(field, message.bytes_); }
  /// A packed field of the type sint64.
  void add_packed(unsigned field, std::span<const std::int64_t> values) {
    ProtobufMessage packed;
    for (const std::int64_t value : values) packed.add_varint(zigzag(value));
    add(field, packed);
  }

  /// Another message of a stream, each with its length in front.
  void append_delimited(const ProtobufMessage& message) { add_delimited(message.bytes_); }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  static constexpr unsigned kVarint = 0;
  static constexpr unsigned kFixed64 = 1;
  static constexpr unsigned kLengthDelimited = 2;

  [[nodiscard]] static std::uint64_t zigzag(std::int64_t value) noexcept {
    const auto bits = static_cast<std::uint64_t>(value);
    return value < 0 ? ~(bits << 1U) : bits << 1U;
  }
  void add_key(unsigned field, unsigned wire_type) { add_varint((field << 3U) | wire_type); }
  void add_varint(std::uint64_t value) {
    constexpr std::uint64_t kMore = 0x80;
    for (; value >= kMore; value >>= 7U) bytes_ += static_cast<char>((value & 0x7FU) | kMore);
    bytes_ += static_cast<char>(value);
  }
  void add_delimited(std::string_view bytes) {
    add_varint(bytes.size());
    bytes_ += bytes;
  }

  std::string bytes_{};
};

}  // namespace wattle::daemon
