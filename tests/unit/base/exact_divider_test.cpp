#include "base/numbers/exact_divider.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace wattle {
namespace {

constexpr std::uint64_t kEnd = std::uint64_t{1} << 63U;

void expect_exact(std::uint64_t divisor, std::uint64_t number) {
  ASSERT_EQ(ExactDivider(divisor).quotient(number), number / divisor) << number << " / " << divisor;
}

TEST(ExactDivider, IsExactAroundEveryKindOfMultiple) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t divisor = (random() >> (1 + random() % 63)) + 1;
    const std::uint64_t multiple = (random() >> (1 + random() % 63)) / divisor * divisor;
    expect_exact(divisor, multiple);
    expect_exact(divisor, multiple + divisor - 1 < kEnd ? multiple + divisor - 1 : kEnd - 1);
    if (multiple > 0) expect_exact(divisor, multiple - 1);
  }
}

TEST(ExactDivider, IsExactAtTheEndsOfItsRange) {
  for (const std::uint64_t divisor : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3},
                                      std::uint64_t{1000}, kEnd / 2 + 1, kEnd - 1, kEnd}) {
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, kEnd - 2, kEnd - 1}) {
      expect_exact(divisor, number);
    }
  }
}

}  // namespace
}  // namespace wattle
