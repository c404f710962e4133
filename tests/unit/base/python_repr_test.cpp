#include "base/text/python_repr.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "fakes/temp_folder.hpp"

namespace wattle {
namespace {

template <class Number>
std::string repr(Number value) {
  std::string text;
  append_python_repr(text, value);
  return text;
}

TEST(PythonRepr, HasAPointInEveryFloat) {
  EXPECT_EQ(repr(0.0), "0.0");
  EXPECT_EQ(repr(-0.0), "-0.0");
  EXPECT_EQ(repr(1.0), "1.0");
  EXPECT_EQ(repr(-12.0), "-12.0");
  EXPECT_EQ(repr(123456.0), "123456.0");
  EXPECT_EQ(repr(9007199254740993.0), "9007199254740992.0");
}

TEST(PythonRepr, HasTheFewestDigitsThatReadBackTheSame) {
  EXPECT_EQ(repr(0.1), "0.1");
  EXPECT_EQ(repr(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(repr(1669000000.123456), "1669000000.123456");
  EXPECT_EQ(repr(61.035), "61.035");
}

TEST(PythonRepr, HasAnExponentOnlyBelowOneTenThousandthAndFromTenToTheSixteenthOn) {
  EXPECT_EQ(repr(0.0001), "0.0001");
  EXPECT_EQ(repr(0.000123), "0.000123");
  EXPECT_EQ(repr(0.00001), "1e-05");
  EXPECT_EQ(repr(0.0000123), "1.23e-05");
  EXPECT_EQ(repr(1e15), "1000000000000000.0");
  EXPECT_EQ(repr(9999999999999998.0), "9999999999999998.0");
  EXPECT_EQ(repr(1e16), "1e+16");
  EXPECT_EQ(repr(12345678901234567890.0), "1.2345678901234567e+19");
  EXPECT_EQ(repr(1e100), "1e+100");
}

TEST(PythonRepr, CoversTheWholeRange) {
  using Limits = std::numeric_limits<double>;
  EXPECT_EQ(repr(Limits::denorm_min()), "5e-324");
  EXPECT_EQ(repr(Limits::min()), "2.2250738585072014e-308");
  EXPECT_EQ(repr(-Limits::max()), "-1.7976931348623157e+308");
  EXPECT_EQ(repr(Limits::infinity()), "inf");
  EXPECT_EQ(repr(-Limits::infinity()), "-inf");
  EXPECT_EQ(repr(Limits::quiet_NaN()), "nan");
  EXPECT_EQ(repr(-Limits::quiet_NaN()), "nan");
}

TEST(PythonRepr, WritesIntegersWithoutAPoint) {
  EXPECT_EQ(repr(std::int64_t{0}), "0");
  EXPECT_EQ(repr(std::int64_t{4000}), "4000");
  EXPECT_EQ(repr(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
}

/// Numbers of all sizes, and more of those that measurements are made of.
std::vector<double> many_numbers() {
  std::mt19937_64 random(20221107);
  std::vector<double> numbers;
  for (int i = 0; i < 20'000; ++i) {
    numbers.push_back(std::bit_cast<double>(random()));
    numbers.push_back(static_cast<double>(random() % 1'000'000'000'000) / 1e3);
    numbers.push_back(static_cast<double>(random() >> (random() % 64)));
    numbers.push_back(std::ldexp(1.0, static_cast<int>(random() % 2098) - 1074));
    numbers.push_back(std::pow(10.0, static_cast<double>(random() % 40) - 20.0));
  }
  return numbers;
}

TEST(PythonRepr, IsWhatPythonItselfWrites) {
  const std::vector<double> numbers = many_numbers();
  const fakes::TempFolder folder;
  folder.write("numbers",
               {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)});
  const std::string command =
      "python3 -c 'import array, sys; a = array.array(\"d\"); "
      "a.frombytes(open(sys.argv[1], \"rb\").read()); [print(repr(x)) for x in a]' " +
      (folder.path() / "numbers").string();
  const std::unique_ptr<FILE, int (*)(FILE*)> python(::popen(command.c_str(), "r"), ::pclose);
  ASSERT_NE(python, nullptr);
  std::array<char, 64> line{};
  std::size_t compared = 0;
  for (const double number : numbers) {
    ASSERT_NE(std::fgets(line.data(), static_cast<int>(line.size()), python.get()), nullptr);
    ASSERT_EQ(repr(number) + "\n", line.data());
    ++compared;
  }
  EXPECT_EQ(compared, 100'000U);
}

TEST(PythonRound, RoundsWhatTheNumberIsNotWhatItLooksLike) {
  // 2.675 and 1.0005 lie below, 0.125 and 0.375 exactly between two.
  EXPECT_EQ(python_round(2.675, 2), 2.67);
  EXPECT_EQ(python_round(1.0005, 3), 1.0);
  EXPECT_EQ(python_round(0.125, 2), 0.12);
  EXPECT_EQ(python_round(0.375, 2), 0.38);
  EXPECT_EQ(python_round(1.23456, 3), 1.235);
  EXPECT_EQ(python_round(-1.26, 1), -1.3);
}

TEST(PythonRound, TakesTheLargestNumbersAndThoseThatAreNone) {
  EXPECT_EQ(python_round(std::numeric_limits<double>::max(), 3),
            std::numeric_limits<double>::max());
  EXPECT_EQ(python_round(-std::numeric_limits<double>::max(), 9),
            -std::numeric_limits<double>::max());
  EXPECT_EQ(python_round(std::numeric_limits<double>::infinity(), 1),
            std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(python_round(std::numeric_limits<double>::quiet_NaN(), 1)));
}

}  // namespace
}  // namespace wattle
