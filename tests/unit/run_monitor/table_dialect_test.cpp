#include "run_monitor/tables/table_dialect.hpp"

#include <gtest/gtest.h>

#include <string>

namespace wattle {
namespace {

TEST(TableDialect, LeavesLinesAsTheyAre) {
  TableDialect dialect;
  EXPECT_EQ(dialect.plain("a, \"b\"; 1,5"), "a, \"b\"; 1,5");
  EXPECT_EQ(dialect.note(), "");
}

TEST(TableDialect, TakesQuotesOff) {
  TableDialect dialect(',', false);
  EXPECT_EQ(dialect.plain(R"("a b", "412.50 W",c)"), "a b,412.50 W,c");
  EXPECT_EQ(dialect.plain(R"("NVIDIA ""A100"", 80GB",7)"), R"(NVIDIA "A100"' 80GB,7)");
  EXPECT_EQ(dialect.plain(R"("a",)"), "a,") << "the last cell is empty";
}

TEST(TableDialect, SplitsAtSemicolonsAndTabs) {
  EXPECT_EQ(TableDialect(';', false).plain("a; b ;;c"), "a,b,,c");
  EXPECT_EQ(TableDialect('\t', false).plain("a\tb\t"), "a,b,");
  EXPECT_EQ(TableDialect(';', false).plain("sep=;"), "");
}

TEST(TableDialect, ReadsDecimalCommas) {
  TableDialect dialect(';', false);
  EXPECT_EQ(dialect.plain("412,50 W;60 %;2026-03-02 09:15:00,250;1,234"),
            "412.50 W,60 %,2026-03-02 09:15:00.250,1.234");
  EXPECT_EQ(dialect.note(), "cells between semicolons, decimal commas");
}

TEST(TableDialect, ReadsNoPointsWhereTheDecimalsHaveCommas) {
  TableDialect dialect(';', false);
  (void)dialect.plain("412,5");
  EXPECT_EQ(dialect.plain("1.234"), "1'234") << "perhaps a thousand";
}

TEST(TableDialect, ReadsNoThousandsForDecimals) {
  TableDialect dialect(',', false);
  EXPECT_EQ(dialect.plain(R"("1,234","412,50 W")"), "1'234,412.50 W");
}

TEST(TableDialect, SkipsRowNumbers) { EXPECT_EQ(TableDialect(',', true).plain("7,a,b"), "a,b"); }

TEST(PossibleDialects, AreOneForWhatNvidiaSmiWrites) {
  const auto dialects = possible_dialects({"timestamp, index", "2026/03/02 09:15:00.000, 0"});
  ASSERT_EQ(dialects.size(), 1U);
  EXPECT_TRUE(dialects.front().is_plain());
}

TEST(PossibleDialects, SkipTheIndexOfPandasFirst) {
  EXPECT_FALSE(possible_dialects({",timestamp,power.draw", "0,2026,5"}).front().is_plain());
  EXPECT_FALSE(possible_dialects({"Unnamed: 0,timestamp", "0,2026"}).front().is_plain());
}

TEST(PossibleDialects, TellRowNumbersFromGpus) {
  std::vector<std::string> numbered = {"index,power.draw"};
  std::vector<std::string> gpus = numbered;
  for (int i = 0; i < 40; ++i) {
    numbered.push_back(std::to_string(i) + ",5");
    gpus.push_back(std::to_string(i % 8) + ",5");
  }
  EXPECT_FALSE(possible_dialects(numbered).front().is_plain());
  EXPECT_TRUE(possible_dialects(gpus).front().is_plain());
}

}  // namespace
}  // namespace wattle
