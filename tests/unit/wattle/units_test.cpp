#include "wattle/units.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <concepts>
#include <type_traits>

namespace wattle {
namespace {

using namespace std::chrono_literals;

template <class A, class B>
concept Addable = requires(A a, B b) { a + b; };
template <class A, class B>
concept Comparable = requires(A a, B b) { a < b; };

static_assert(!Addable<Joules, Watts>, "energy and power do not mix");
static_assert(!Addable<Joules, double>, "a raw number has no unit");
static_assert(!Comparable<Joules, Watts>);
static_assert(!std::convertible_to<double, Joules>, "the unit is written out");
static_assert(!std::convertible_to<Joules, double>);
static_assert(!std::convertible_to<Joules, Watts>);
static_assert(std::is_trivially_copyable_v<Joules> && sizeof(Joules) == sizeof(double));

TEST(Units, QuantitiesBeginAtZero) {
  EXPECT_EQ(Joules().si(), 0.0);
  EXPECT_EQ(Watts().si(), 0.0);
}

TEST(Units, AddAndSubtractLikeQuantities) {
  constexpr Joules sum = Joules(50.0) + Joules(12.5) - Joules(2.5);
  static_assert(sum == Joules(60.0));
  Watts power(10.0);
  power += Watts(5.0);
  power -= Watts(1.0);
  EXPECT_EQ(power, Watts(14.0));
}

TEST(Units, ScaleByPlainNumbers) {
  static_assert(Joules(3.0) * 2.0 == Joules(6.0));
  static_assert(2.0 * Joules(3.0) == Joules(6.0));
  static_assert(Joules(3.0) / 2.0 == Joules(1.5));
}

TEST(Units, RatioOfLikeQuantitiesIsAPlainNumber) {
  static_assert(std::same_as<decltype(Watts(1.0) / Watts(1.0)), double>);
  EXPECT_EQ(Watts(30.0) / Watts(120.0), 0.25);
}

TEST(Units, EnergyOverTimeIsPowerInAnyUnitOfTime) {
  EXPECT_EQ(Joules(50.0) / Seconds(2.0), Watts(25.0));
  EXPECT_EQ(Joules(50.0) / 500ms, Watts(100.0));
}

TEST(Units, PowerTimesTimeIsEnergyInEitherOrder) {
  EXPECT_EQ(Watts(100.0) * Seconds(10.0), Joules(1000.0));
  EXPECT_EQ(250ms * Watts(100.0), Joules(25.0));
}

TEST(Units, CompareByMagnitude) {
  static_assert(Joules(-1.0) < Joules(0.0));
  static_assert(Watts(2.0) >= Watts(2.0));
  static_assert(Watts(2.0) != Watts(2.5));
}

TEST(Units, DifferenceMayBeNegative) { EXPECT_EQ((Joules(1.0) - Joules(3.0)).si(), -2.0); }

}  // namespace
}  // namespace wattle
