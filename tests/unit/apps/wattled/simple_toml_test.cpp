#include "simple_toml.hpp"

#include <gmock/gmock.h>

#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string why_no_toml(const std::string& text) {
  try {
    (void)parse_simple_toml(text);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  ADD_FAILURE() << "taken: " << text;
  return {};
}

TEST(SimpleToml, HasTablesOfStringsNumbersAndLists) {
  const auto tables = parse_simple_toml(
      "# first\r\n\n[a]  # second\nx = \"one\" # third\ny=+12\n\n[b-2]\nz = [ 'p' , # fourth\n "
      "\"q\",\n]\nempty = []");
  ASSERT_THAT(tables, SizeIs(2));
  EXPECT_EQ(tables[0].name, "a");
  ASSERT_THAT(tables[0].values, SizeIs(2));
  EXPECT_EQ(tables[0].values[0].first, "x");
  EXPECT_EQ(std::get<std::string>(tables[0].values[0].second), "one");
  EXPECT_EQ(std::get<std::uint64_t>(tables[0].values[1].second), 12U);
  EXPECT_EQ(tables[1].name, "b-2");
  EXPECT_THAT(std::get<std::vector<std::string>>(tables[1].values[0].second),
              ElementsAre("p", "q"));
  EXPECT_THAT(std::get<std::vector<std::string>>(tables[1].values[1].second), IsEmpty());
}

TEST(SimpleToml, HasEscapesInBasicStringsAlone) {
  const auto tables = parse_simple_toml("[a]\nx = \"a\\\"b\\\\c\\td\"\ny = 'a\\d#'\n");
  EXPECT_EQ(std::get<std::string>(tables[0].values[0].second), "a\"b\\c\td");
  EXPECT_EQ(std::get<std::string>(tables[0].values[1].second), "a\\d#");
}

TEST(SimpleToml, OfNothingHasNoTables) { EXPECT_THAT(parse_simple_toml(" \n# x\n"), IsEmpty()); }

TEST(SimpleToml, ThatIsNoneIsRefusedWithItsLine) {
  EXPECT_THAT(why_no_toml("x = 1\n"), HasSubstr("line 1: a key before the first table"));
  EXPECT_THAT(why_no_toml("[a\nx = 1\n"), HasSubstr("line 1: ']' is missing"));
  EXPECT_THAT(why_no_toml("[a]\n\nx\n"), HasSubstr("line 3: '=' is missing"));
  EXPECT_THAT(why_no_toml("[a]\nx = \n"), HasSubstr("line 2: '' is not a string"));
  EXPECT_THAT(why_no_toml("[a]\nx = \"b\n"), HasSubstr("a string has no end"));
  EXPECT_THAT(why_no_toml("[a]\nx = [\"b\"\n"), HasSubstr("a list has no end"));
  EXPECT_THAT(why_no_toml("[a]\nx = [\"b\" \"c\"]\n"), HasSubstr("']' is missing"));
  EXPECT_THAT(why_no_toml("[a]\nx = 1 2\n"), HasSubstr("the line has text after its value"));
  EXPECT_THAT(why_no_toml("[a]\n[a]\n"), HasSubstr("the table 'a' appears twice"));
  EXPECT_THAT(why_no_toml("[a]\nx = 1\nx = 2\n"), HasSubstr("line 3: the key 'x' appears twice"));
}

TEST(SimpleToml, RefusesOtherTypesOfToml) {
  for (const char* const value : {"1.5", "true", "-1", "{ y = 1 }", "1979-05-27", "[1, 2]",
                                  "\"\"\"a\"\"\"", "'''a'''", "\"\\u0041\""}) {
    EXPECT_THAT(why_no_toml("[a]\nx = " + std::string(value) + "\n"), HasSubstr("line 2")) << value;
  }
  for (const char* const name : {"[[a]]", "[a.b]", "[\"a\"]"}) {
    EXPECT_THAT(why_no_toml(std::string(name) + "\n"), HasSubstr("line 1")) << name;
  }
}

}  // namespace
}  // namespace wattle::daemon
