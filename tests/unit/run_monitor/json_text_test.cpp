#include "run_monitor/json_text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "wattle/error.hpp"

namespace wattle {
namespace {

std::string json(const Value& value) {
  std::string out;
  append_json(out, value);
  return out;
}

TEST(JsonText, WritesEachKindOfValueAsPythonDoes) {
  EXPECT_EQ(json(nullptr), "null");
  EXPECT_EQ(json(Value()), "null");
  EXPECT_EQ(json(true), "true");
  EXPECT_EQ(json(false), "false");
  EXPECT_EQ(json(-7), "-7");
  EXPECT_EQ(json(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(json(std::size_t{8}), "8");
  EXPECT_EQ(json(1.0), "1.0");
  EXPECT_EQ(json(0.1F), "0.10000000149011612");
  EXPECT_EQ(json(1e16), "1e+16");
  EXPECT_EQ(json("a"), "\"a\"");
  EXPECT_EQ(json(std::string_view("b")), "\"b\"");
  EXPECT_EQ(json(Value::Array{}), "[]");
  EXPECT_EQ(json(Value::Array{1, "two", nullptr, Value::Array{3.5}}), "[1, \"two\", null, [3.5]]");
  EXPECT_EQ(json(Value::Object{}), "{}");
  EXPECT_EQ(json(Value::Object{{"b", 1}, {"a", Value::Object{{"c", true}}}}),
            "{\"b\": 1, \"a\": {\"c\": true}}");
}

TEST(JsonText, WritesNullForWhatJsonCannotSay) {
  EXPECT_EQ(json(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(json(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(json(-std::numeric_limits<double>::infinity()), "null");
}

TEST(JsonText, WritesAsciiAlone) {
  EXPECT_EQ(json("\"\\/\b\f\n\r\t\x01\x7f~"), R"("\"\\/\b\f\n\r\t\u0001\u007f~")");
  EXPECT_EQ(json(std::string_view("a\0b", 3)), R"("a\u0000b")");
  EXPECT_EQ(json("é€"), R"("\u00e9\u20ac")");
  EXPECT_EQ(json("\U0001F600\U0010FFFF\U00010000"), R"("\ud83d\ude00\udbff\udfff\ud800\udc00")");
  EXPECT_EQ(json(Value::Object{{"größe", 1}}), R"({"gr\u00f6\u00dfe": 1})");
}

TEST(JsonText, WritesAReplacementForWhatIsNoUtf8) {
  EXPECT_EQ(json("a\xff"
                 "b"),
            R"("a\ufffdb")");
  EXPECT_EQ(json("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")");  // a surrogate by itself
  EXPECT_EQ(json("\xe2\x82"), R"("\ufffd\ufffd")");            // cut off
}

TEST(Value, RefusesAWholeNumberThatDoesNotFit) {
  EXPECT_THROW(Value{std::numeric_limits<std::uint64_t>::max()}, InvalidArgument);
  EXPECT_EQ(json(std::uint64_t{9223372036854775807U}), "9223372036854775807");
}

}  // namespace
}  // namespace wattle
