#include "run_monitor/tables/table_cell.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "run_monitor/tables/table_figures.hpp"

namespace wattle {
namespace {

using namespace std::string_view_literals;

TEST(TableCell, IsANumberWithOrWithoutItsUnit) {
  for (const auto& [text, value] : {std::pair{"0", 0.0},
                                    {" 60", 60.0},
                                    {"60 %", 60.0},
                                    {"8500 MiB", 8500.0},
                                    {"123.45 W ", 123.45},
                                    {"12 MB/s", 12.0},
                                    {"1e3", 1000.0},
                                    {"00012.50", 12.5}}) {
    const Cell cell = parse_cell(text);
    EXPECT_TRUE(cell.is_number()) << text;
    EXPECT_EQ(cell.value(), value) << text;
  }
}

TEST(Spread, OfOneValueHasThatMean) {
  WeightedStatistics spread;
  for (int i = 1; i < 1'000; ++i) {
    spread.add(Cell(80.1), 0.001 * (i * 7919 % 997));
    EXPECT_EQ(spread.mean(), 80.1) << i;
  }
}

TEST(TableCell, IsNoNumberWithAnotherCharacterInIt) {
  const std::string digits = "1234567890";
  for (std::size_t length = 1; length <= digits.size(); ++length) {
    for (std::size_t place = 0; place < length; ++place) {
      for (int c = 1; c < 256; ++c) {
        std::string text = digits.substr(0, length);
        text[place] = static_cast<char>(c);
        if (std::string_view("0123456789eE+- \t").find(text[place]) != std::string_view::npos) {
          continue;
        }
        if (c == '.' && place == 0) continue;  // ".5"
        const bool is_point = c == '.' && place + 1 < length;
        EXPECT_EQ(parse_cell(text).is_number(), is_point) << text;
      }
    }
  }
}

TEST(TableCell, IsTheNearestNumber) {
  std::mt19937_64 random(1);  // NOLINT: the same numbers each time
  for (int i = 0; i < 10'000; ++i) {
    std::string text =
        std::to_string(random() % 1'000'000) + "." + std::to_string(random() % 100'000'000);
    EXPECT_EQ(parse_cell(text).value(), std::stod(text)) << text;
    text.resize(1 + static_cast<std::size_t>(i) % text.size());
    if (text.ends_with('.')) text += '0';
    EXPECT_EQ(parse_cell(text).value(), std::stod(text)) << text;
  }
}

TEST(TableCell, IsTheSameWhateverStandsBeforeIt) {
  std::mt19937_64 random(2);  // NOLINT: the same texts each time
  constexpr std::string_view kCharacters =
      "0123456789012345678901234567890123456789.. \t-e]N\0\x80"sv;
  for (int i = 0; i < 200'000; ++i) {
    const std::size_t length = random() % 12;
    std::string line = "7.7,7.7.";
    for (std::size_t k = 0; k < length; ++k) line += kCharacters[random() % kCharacters.size()];
    const std::string alone = line.substr(8);
    const std::string_view in_line = std::string_view(line).substr(8);
    for (const auto& [cell, fast] :
         {std::pair{parse_cell(alone), parse_cell(in_line, true)},
          {parse_cell(alone, {.quantity = CellQuantity::power}),
           parse_cell(in_line, {.quantity = CellQuantity::power}, true)}}) {
      EXPECT_EQ(fast, cell) << alone;
    }
  }
}

TEST(TableCell, MaySayThatThereIsNone) {
  for (const char* text : {"[N/A]", " [Not Supported]", "[Insufficient Permissions]",
                           "[Unknown Error]", "-", "N/A", "", "  ", "NaN", "nan", "None"}) {
    EXPECT_TRUE(parse_cell(text).is_missing()) << text;
  }
}

TEST(TableCell, IsBadWhereAnythingElseStandsInIt) {
  for (const std::string& text :
       {std::string("1."), std::string("."), std::string("12,5"), std::string("-5"),
        std::string("nans"), std::string("inf"), std::string("1e999"), std::string("1e16"),
        std::string("5 MiB 6"), std::string("12%"), std::string("0x10"), std::string("1 2"),
        std::string("NVIDIA-SMI"), std::string("[N/A"), std::string("5\0", 2),
        std::string("[\0]", 3)}) {
    EXPECT_TRUE(parse_cell(text).is_bad()) << text;
  }
}

TEST(TableCell, HasTheUnitOfItsColumn) {
  const CellUnit power{.quantity = CellQuantity::power};
  EXPECT_EQ(parse_cell("12 W", power).value(), 12.0);
  EXPECT_EQ(parse_cell("12000 mW", power).value(), 12.0);
  EXPECT_EQ(parse_cell("5", power).value(), 5.0);
  for (const char* text : {"12 MiB", "12 %", "12 w", "1 2", "12 W 3", "W"}) {
    EXPECT_TRUE(parse_cell(text, power).is_bad()) << text;
  }
  EXPECT_EQ(parse_cell("60%", {.quantity = CellQuantity::share}).value(), 60.0);
  // With the spaces that do not break lines.
  EXPECT_EQ(parse_cell("12\xC2\xA0W", power).value(), 12.0);
  EXPECT_EQ(parse_cell("12000\xE2\x80\xAFmW", power).value(), 12.0);
}

TEST(TableCell, IsBadWhereNoDeviceHasAsMuch) {
  const CellUnit megawatts{.quantity = CellQuantity::power,
                           .factor = *factor_of(CellQuantity::power, "MW"),
                           .is_stated = true};
  EXPECT_EQ(parse_cell("1000", megawatts).value(), 1e9);
  for (const char* text : {"10000000000", "999999999999999", "1e15", "1e15 MW"}) {
    EXPECT_TRUE(parse_cell(text, megawatts).is_bad()) << text;
  }
  // As in the middle of a line.
  const std::string line = "2026, 999999999999999";
  const std::string_view last = std::string_view(line).substr(6);
  EXPECT_TRUE(parse_cell(last, megawatts, true).is_bad());
}

TEST(TableCell, HasNoUnitOfSeveralMeanings) {
  EXPECT_FALSE(factor_of(CellQuantity::memory, "KB"));
  EXPECT_FALSE(factor_of(CellQuantity::power, "J"));
}

}  // namespace
}  // namespace wattle
