#include "base/numbers/rice.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace wattle {
namespace {

using Column = std::vector<std::uint64_t>;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

/// Writes and reads the column; how many bits it took.
std::uint64_t expect_round_trip(const Column& column) {
  const RicePlan plan = plan_rice(column);
  std::vector<std::uint64_t> words(max_rice_bits(column.size()) / 64 + 3);
  BitWriter writer(words);
  put_rice(writer, column, plan);
  writer.put(1, 1);  // something behind it, which must not be touched
  EXPECT_EQ(writer.finish(), plan.bits + 1);
  EXPECT_LE(plan.bits, max_rice_bits(column.size()));

  BitReader reader(words.data());
  Column taken(column.size());
  take_rice(reader, taken);
  EXPECT_EQ(taken, column);
  EXPECT_EQ(reader.position(), plan.bits);
  return plan.bits;
}

/// Numbers of one sort, among them now and then one that is anything.
Column random_column(std::mt19937_64& random) {
  const auto width = static_cast<unsigned>(random() % 65);
  const std::uint64_t base = random() & low_mask(static_cast<unsigned>(random() % 65));
  const std::uint64_t one_anything_in = std::array{1U, 2U, 20U, 1000U}[random() % 4];
  Column column(1 + random() % kMaxRiceColumn);
  for (std::uint64_t& number : column) {
    number = base + (random() & low_mask(width));
    if (random() % one_anything_in == 0) {
      number = random() & low_mask(static_cast<unsigned>(random() % 65));
    }
  }
  return column;
}

TEST(Rice, GivesBackAnyColumnInTheBitsThatWerePlanned) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000 && !::testing::Test::HasFailure(); ++i) {
    expect_round_trip(random_column(random));
  }
}

TEST(Rice, GivesBackTheExtremes) {
  expect_round_trip({0});
  expect_round_trip({kMost});
  expect_round_trip({0, kMost});
  expect_round_trip(Column(kMaxRiceColumn, kMost));
  Column alternating;
  for (std::size_t i = 0; i < kMaxRiceColumn; ++i) alternating.push_back(i % 2 == 0 ? 0 : kMost);
  expect_round_trip(alternating);
}

TEST(Rice, WritesEqualNumbersOnce) { EXPECT_EQ(expect_round_trip(Column(128, 1000)), 6 + 10 + 7); }

TEST(Rice, WritesOnlyTheExceptionsAmongEqualNumbers) {
  Column column(128, 1);
  column[0] = 0;
  column[77] = kMost;
  EXPECT_LE(expect_round_trip(column), 150U);
}

TEST(Rice, IsNotWidenedByAFewFarNumbers) {
  std::mt19937_64 random(1);
  Column column(128);
  for (std::uint64_t& number : column) number = random() % 64;
  const std::uint64_t without = expect_round_trip(column);
  column[5] = kMost;
  column[50] = std::uint64_t{1} << 40U;
  EXPECT_LE(expect_round_trip(column), without + 2 * 90);
}

TEST(Rice, StaysNearTheEntropyOfNoise) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0.0, 500.0);
  std::uint64_t bits = 0;
  for (int i = 0; i < 100; ++i) {
    Column column(128);
    for (std::uint64_t& number : column) {
      number = static_cast<std::uint64_t>(std::abs(noise(random)));
    }
    bits += expect_round_trip(column);
  }
  // Of a half normal distribution: log2(sigma sqrt(pi e / 2)) bits.
  const double entropy = std::log2(500.0 * std::sqrt(std::acos(-1.0) * std::exp(1.0) / 2.0));
  EXPECT_LT(static_cast<double>(bits) / 12800.0, entropy * 1.05);
}

TEST(Rice, GivesBackSingleNumbers) {
  for (unsigned width = 0; width <= 64; ++width) {
    std::array<std::uint64_t, 3> words{};
    BitWriter writer(words);
    put_number(writer, low_mask(width));
    (void)writer.finish();
    BitReader reader(words.data());
    EXPECT_EQ(take_number(reader), low_mask(width));
  }
}

}  // namespace
}  // namespace wattle
