#include <gtest/gtest.h>

#include <string>

#include "energy/handlers/csv_handler.hpp"
#include "unit/energy/samples.hpp"

namespace wattle {
namespace {

using testing_samples::joules;
using testing_samples::nothing_known;
using testing_samples::sample;

std::string cell(std::string_view text) {
  std::string out;
  append_csv_cell(out, text);
  return out;
}

std::string row(const EnergySample& sample) {
  std::string out;
  append_csv_row(out, sample);
  return out;
}

TEST(CsvCell, IsTheTextItselfWhereItCanBe) {
  EXPECT_EQ(cell(""), "");
  EXPECT_EQ(cell("a tag, 'quoted' \\ \t"), "a tag, 'quoted' \\ \t");
  EXPECT_EQ(cell("\xff\xfe"), "\xff\xfe");
  EXPECT_EQ(cell(std::string_view("a\0b", 3)), std::string("a\0b", 3));
}

TEST(CsvCell, IsQuotedWhereTheTextWouldBreakTheTable) {
  EXPECT_EQ(cell("a;b"), "\"a;b\"");
  EXPECT_EQ(cell("a\nb"), "\"a\nb\"");
  EXPECT_EQ(cell("a\rb"), "\"a\rb\"");
  EXPECT_EQ(cell("say \"a\""), "\"say \"\"a\"\"\"");
  EXPECT_EQ(cell("\""), "\"\"\"\"");
}

TEST(CsvHeader, NamesTheDomains) {
  EXPECT_EQ(csv_header({"package_0", "dram_0"}), "timestamp;tag;duration;package_0;dram_0");
  EXPECT_EQ(csv_header({"my;source"}), "timestamp;tag;duration;\"my;source\"");
}

/// As pyJoules does.
TEST(CsvHeader, AndRowsEndInASeparatorWhereThereIsNoDomain) {
  EXPECT_EQ(csv_header({}), "timestamp;tag;duration;");
  EXPECT_EQ(row(sample("a", {}, {.timestamp_unix_s = 1.0, .duration_s = 2.0})), "1.0;a;2.0;\n");
}

TEST(CsvRow, HasTheNumbersAsPyJoulesWritesThem) {
  EXPECT_EQ(row(sample("a", {{"package_0", joules(0.123456)}, {"nvidia_gpu_0", joules(0.004)}},
                       {.timestamp_unix_s = 1669000000.123456, .duration_s = 1e-5})),
            "1669000000.123456;a;1e-05;123456.0;4000\n");
}

TEST(CsvRow, HasAnEmptyCellForWhatIsUnknown) {
  EXPECT_EQ(row(sample("a", {{"d1", nothing_known()}, {"d2", joules(1e-6)}, {"d3", {}}},
                       {.timestamp_unix_s = 1.0, .duration_s = 2.0})),
            "1.0;a;2.0;;1.0;\n");
}

TEST(BeginsWithHeader, TakesTheWholeFirstLineOrNothing) {
  EXPECT_TRUE(begins_with_header("a;b\n1;2\n", "a;b"));
  EXPECT_TRUE(begins_with_header("a;b", "a;b"));
  EXPECT_FALSE(begins_with_header("a;bc\n", "a;b"));
  EXPECT_FALSE(begins_with_header("a;b;c\n", "a;b"));
  EXPECT_FALSE(begins_with_header("a;\n", "a;b"));
  EXPECT_FALSE(begins_with_header("a;b\r\n", "a;b"));
  EXPECT_FALSE(begins_with_header("\n", "a;b"));
  EXPECT_FALSE(begins_with_header("", "a;b"));
}

/// Whole, and then byte by byte.
bool ends_in_quotes(std::string_view text) {
  QuotedCells whole;
  whole.read(text);
  QuotedCells in_pieces;
  for (std::size_t i = 0; i < text.size(); ++i) in_pieces.read(text.substr(i, 1));
  EXPECT_EQ(whole.is_open(), in_pieces.is_open()) << text;
  return whole.is_open();
}

TEST(QuotedCells, AreOpenUpToTheirSecondQuote) {
  EXPECT_FALSE(ends_in_quotes(""));
  EXPECT_FALSE(ends_in_quotes("a;b\n"));
  EXPECT_TRUE(ends_in_quotes("\"a"));
  EXPECT_TRUE(ends_in_quotes("a;\"b;\n"));
  EXPECT_TRUE(ends_in_quotes("a\n\""));
  EXPECT_FALSE(ends_in_quotes("a;\"b;\n\""));
  EXPECT_FALSE(ends_in_quotes("a;\"b;\n\";c\n"));
  EXPECT_TRUE(ends_in_quotes("a;\"b\";\"c"));
}

TEST(QuotedCells, MayHoldQuotesInPairs) {
  EXPECT_TRUE(ends_in_quotes("\"a\"\""));
  EXPECT_TRUE(ends_in_quotes("\"a\"\"b"));
  EXPECT_FALSE(ends_in_quotes("\"a\"\"b\""));
  EXPECT_TRUE(ends_in_quotes("\"\"\""));
  EXPECT_FALSE(ends_in_quotes("\"\"\"\";c"));
}

TEST(QuotedCells, BeginNowhereButAtTheBeginningOfACell) {
  EXPECT_FALSE(ends_in_quotes("17\";b"));
  EXPECT_FALSE(ends_in_quotes("17\"\"\";b"));
  EXPECT_FALSE(ends_in_quotes("\"17\" \";b"));
  EXPECT_TRUE(ends_in_quotes("17\";\"b"));
}

}  // namespace
}  // namespace wattle
