// Numbers of any width, one after the other in 64-bit words, lowest bit first.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace wattle {

/// The lowest `width` bits set; `width` is from 0 to 64.
[[nodiscard]] constexpr std::uint64_t low_mask(unsigned width) noexcept {
  return width == 0 ? 0 : ~std::uint64_t{0} >> (64U - width);
}

/// Writes into words that the caller has made enough of. Threads: one at a time.
class BitWriter {
 public:
  explicit BitWriter(std::span<std::uint64_t> words) noexcept : words_(words) {}

  /// The lowest `width` bits of `bits`, whose others are 0; `width` is from 0 to 64.
  void put(std::uint64_t bits, unsigned width) noexcept {
    word_ |= bits << used_;
    if (used_ + width < 64) {
      used_ += width;
      return;
    }
    words_[count_++] = word_;
    // In two steps: a shift by 64 is not defined.
    word_ = (bits >> 1U) >> (63U - used_);
    used_ = used_ + width - 64;
  }

  /// Completes the last word, after which nothing more is put. The number of bits written.
  [[nodiscard]] std::size_t finish() noexcept {
    if (used_ > 0) words_[count_] = word_;
    return count_ * 64 + used_;
  }

 private:
  std::span<std::uint64_t> words_;
  std::size_t count_ = 0;
  std::uint64_t word_ = 0;  ///< the one that is not full yet
  unsigned used_ = 0;       ///< its bits that are taken, 0 to 63
};

/// Reads what a `BitWriter` wrote. One word after the last must be readable, with any value.
/// Threads: one at a time.
class BitReader {
 public:
  explicit BitReader(const std::uint64_t* words) noexcept : words_(words) {}

  /// Where the next bit is, from the start.
  [[nodiscard]] std::size_t position() const noexcept { return position_; }
  void skip(std::size_t bits) noexcept { position_ += bits; }

  /// `width` bits from `position` on; `width` is from 0 to 64.
  [[nodiscard]] std::uint64_t peek(std::size_t position, unsigned width) const noexcept {
    const std::size_t word = position / 64;
    const unsigned shift = position % 64;
    const std::uint64_t bits =
        (words_[word] >> shift) | ((words_[word + 1] << 1U) << (63U - shift));
    return bits & low_mask(width);
  }

  [[nodiscard]] std::uint64_t take(unsigned width) noexcept {
    const std::uint64_t bits = peek(position_, width);
    position_ += width;
    return bits;
  }

  /// The most bits that `peek_few` takes.
  static constexpr unsigned kFew = 57;
  /// As `peek`, faster; `width` is from 0 to `kFew`.
  [[nodiscard]] std::uint64_t peek_few(std::size_t position, unsigned width) const noexcept {
    if constexpr (std::endian::native != std::endian::little) return peek(position, width);
    std::uint64_t bits = 0;
    const auto* const bytes = static_cast<const std::byte*>(static_cast<const void*>(words_));
    std::memcpy(&bits, bytes + position / 8, sizeof bits);
    return (bits >> (position % 8)) & low_mask(width);
  }

  /// Takes `count` unary numbers, each the zeros before the next one: calls `place(i, zeros)`.
  template <class Place>
  void take_unary(std::size_t count, Place place) noexcept {
    std::size_t position = position_;
    std::size_t word = position / 64;
    std::uint64_t ones = words_[word] & (~std::uint64_t{0} << (position % 64));
    for (std::size_t i = 0; i < count; ++i) {
      while (ones == 0) ones = words_[++word];
      const std::size_t one = word * 64 + static_cast<unsigned>(std::countr_zero(ones));
      ones &= ones - 1;
      place(i, one - position);
      position = one + 1;
    }
    position_ = position;
  }

 private:
  const std::uint64_t* words_;
  std::size_t position_ = 0;
};

}  // namespace wattle
