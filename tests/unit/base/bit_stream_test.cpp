#include "base/numbers/bit_stream.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace wattle {
namespace {

TEST(BitStream, GivesBackNumbersOfEveryWidth) {
  std::mt19937_64 random(1);
  struct Number {
    std::uint64_t bits;
    unsigned width;
  };
  std::vector<Number> numbers;
  for (int i = 0; i < 10'000; ++i) {
    const auto width = static_cast<unsigned>(random() % 65);
    numbers.push_back({.bits = random() & low_mask(width), .width = width});
  }
  std::vector<std::uint64_t> words(numbers.size() + 1);
  BitWriter writer(words);
  for (const Number& number : numbers) writer.put(number.bits, number.width);
  const std::size_t bits = writer.finish();

  BitReader reader(words.data());
  for (const Number& number : numbers) ASSERT_EQ(reader.take(number.width), number.bits);
  EXPECT_EQ(reader.position(), bits);
}

TEST(BitStream, GivesBackUnaryNumbersLongerThanAWord) {
  const std::array<std::uint64_t, 6> counts = {0, 3, 200, 0, 63, 64};
  std::array<std::uint64_t, 8> words{};
  BitWriter writer(words);
  writer.put(5, 3);
  for (const std::uint64_t count : counts) {
    for (std::uint64_t i = 0; i < count; ++i) writer.put(0, 1);
    writer.put(1, 1);
  }
  writer.put(9, 4);
  (void)writer.finish();

  BitReader reader(words.data());
  EXPECT_EQ(reader.take(3), 5U);
  std::array<std::uint64_t, 6> taken{};
  reader.take_unary(taken.size(), [&](std::size_t i, std::uint64_t zeros) { taken[i] = zeros; });
  EXPECT_EQ(taken, counts);
  EXPECT_EQ(reader.take(4), 9U);
}

TEST(BitStream, PeeksAnywhereWithoutMoving) {
  std::array<std::uint64_t, 3> words{};
  BitWriter writer(words);
  writer.put(0, 60);
  writer.put(0xABC, 12);
  (void)writer.finish();

  BitReader reader(words.data());
  EXPECT_EQ(reader.peek(60, 12), 0xABCU);
  EXPECT_EQ(reader.peek(64, 8), 0xABU);
  EXPECT_EQ(reader.position(), 0U);
}

TEST(BitStream, PeeksAtFewBitsAsAtMany) {
  std::array<std::uint64_t, 4> words = {0x0123456789ABCDEF, 0xFEDCBA9876543210, 0x5555AAAA3333CCCC,
                                        0};
  const BitReader reader(words.data());
  for (std::size_t position = 0; position < 128; ++position) {
    for (unsigned width = 0; width <= BitReader::kFew; ++width) {
      EXPECT_EQ(reader.peek_few(position, width), reader.peek(position, width))
          << width << " bits from " << position;
    }
  }
}

}  // namespace
}  // namespace wattle
