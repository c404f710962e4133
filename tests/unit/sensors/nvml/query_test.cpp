#include "sensors/nvml/query.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace wattle::nvml {
namespace {

template <class Number>
FieldValue field_of(ValueType type, Number number) {
  FieldValue field{.type = type};
  field.value.fill(std::byte{0xEE});  // the rest of the union is whatever it was
  std::memcpy(field.value.data(), &number, sizeof number);
  return field;
}

TEST(FieldValue, HoldsItsPowerInTheMemberOfItsType) {
  EXPECT_EQ(milliwatts(field_of(ValueType::real, 75000.4)), 75000U);
  EXPECT_EQ(milliwatts(field_of(ValueType::unsigned_int, std::uint32_t{75000})), 75000U);
  EXPECT_EQ(milliwatts(field_of(ValueType::unsigned_long, 75000UL)), 75000U);
  EXPECT_EQ(milliwatts(field_of(ValueType::unsigned_long_long, std::uint64_t{1} << 40U)),
            std::uint64_t{1} << 40U);
  EXPECT_EQ(milliwatts(field_of(ValueType::signed_long_long, std::int64_t{75000})), 75000U);
  EXPECT_EQ(milliwatts(field_of(ValueType::signed_int, std::int32_t{75000})), 75000U);
  EXPECT_EQ(milliwatts(field_of(ValueType::unsigned_short, std::uint16_t{50000})), 50000U);
}

TEST(FieldValue, OfZeroIsAPower) {
  EXPECT_EQ(milliwatts(field_of(ValueType::real, 0.0)), 0U);
  EXPECT_EQ(milliwatts(field_of(ValueType::unsigned_int, std::uint32_t{0})), 0U);
}

TEST(FieldValue, BelowZeroOrNoNumberIsNoPower) {
  EXPECT_FALSE(milliwatts(field_of(ValueType::signed_int, std::int32_t{-1})).has_value());
  EXPECT_FALSE(milliwatts(field_of(ValueType::signed_long_long, std::int64_t{-1})).has_value());
  for (const double number : {-1.0, std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity(), 1e300}) {
    EXPECT_FALSE(milliwatts(field_of(ValueType::real, number)).has_value()) << number;
  }
}

TEST(FieldValue, OfATypeThatIsNotDocumentedIsNoPower) {
  EXPECT_FALSE(milliwatts(field_of(ValueType{7}, std::uint64_t{75000})).has_value());
  EXPECT_FALSE(milliwatts(field_of(ValueType{0xFFFFFFFF}, std::uint64_t{75000})).has_value());
}

TEST(Ask, WithoutTheFunctionsSaysThatTheyAreMissing) {
  const Api nothing;
  for (const Query query : kQueries) {
    Answers answers;
    ask(nothing, nullptr, query, Items(1), answers);
    EXPECT_EQ(answers[0].result, Return::function_not_found) << static_cast<int>(query);
  }
}

}  // namespace
}  // namespace wattle::nvml
