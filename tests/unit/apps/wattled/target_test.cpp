#include "http/target.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>

namespace wattle::daemon {
namespace {

using testing::ElementsAre;
using Ids = std::vector<std::uint64_t>;

std::string path_of(std::string_view target) {
  const auto parsed = parse_target(target);
  return parsed ? parsed->path : "refused";
}

std::string encoded(char c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  return {'%', kDigits[byte / 16U], kDigits[byte % 16U]};
}

TEST(Target, IsAPathAndAQuery) {
  const auto target = parse_target("/gpu/get_power?gpu_ids=0%2C1");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/gpu/get_power");
  EXPECT_EQ(target->query, "gpu_ids=0%2C1");
}

TEST(Target, MayHaveNoQueryOrAnEmptyOne) {
  EXPECT_EQ(parse_target("/time")->query, "");
  EXPECT_EQ(parse_target("/time?")->query, "");
  EXPECT_EQ(path_of("/time?"), "/time");
}

TEST(Target, HasAQueryFromTheFirstQuestionMarkOn) {
  EXPECT_EQ(parse_target("/a?b?c")->query, "b?c");
}

TEST(Target, IsTheSameWhicheverByteOfItsPathIsEncoded) {
  const std::string path = "/cpu/get_power";
  for (std::size_t i = 1; i < path.size(); ++i) {
    if (path[i] == '/') continue;
    EXPECT_EQ(path_of(path.substr(0, i) + encoded(path[i]) + path.substr(i + 1)), path);
  }
}

TEST(Target, IsDecodedOnce) { EXPECT_EQ(path_of("/%2567et"), "/%67et"); }

TEST(Target, KeepsAnEncodedSlashAsItIs) {
  EXPECT_EQ(path_of("/gpu%2Fget_power"), "/gpu%2Fget_power");
  EXPECT_EQ(path_of("/gpu%2fget_power"), "/gpu%2fget_power");
}

TEST(Target, NormalizesNothing) {
  for (const char* path : {"//time", "/./time", "/gpu/../time", "/time/", "/TIME", "/time;a=b",
                           "/..", "/time.", "/a+b"}) {
    EXPECT_EQ(path_of(path), path);
  }
  EXPECT_EQ(path_of("/%2E%2e/time"), "/../time");
}

TEST(Target, WithAnEncodingCutShortOrOfOtherDigitsIsRefused) {
  for (const char* path :
       {"/%", "/%2", "/%zz", "/%2g", "/%%41", "/%-1", "/%+1", "/% 1", "/%0x41"}) {
    EXPECT_EQ(parse_target(path), std::nullopt) << path;
  }
}

TEST(Target, WithAControlCharacterIsRefused) {
  for (int i = 0; i < 256; ++i) {
    const char c = static_cast<char>(i);
    const bool is_control = i < 0x20 || i == 0x7F;
    EXPECT_EQ(parse_target("/a" + encoded(c)).has_value(), !is_control) << i;
    const bool is_visible = i > 0x20 && i < 0x7F && c != '#';
    EXPECT_EQ(parse_target(std::string("/a") + c + "41").has_value(), is_visible) << i;
    EXPECT_EQ(parse_target(std::string("/a?") + c).has_value(), is_visible) << i;
  }
}

TEST(Target, ThatIsNoPathIsRefused) {
  for (const char* target : {"", "*", "time", "?a", "http://localhost/time", "localhost:443"}) {
    EXPECT_EQ(parse_target(target), std::nullopt) << target;
  }
}

TEST(Target, ShowsBytesThatAreNotUtf8AsUnknown) {
  EXPECT_EQ(path_of("/%C3%A4"), "/ä");
  EXPECT_EQ(path_of("/%C3"), "/\uFFFD");
}

// --- queries ---

/// The message of the fault in this form; "taken" if there is none.
std::string fault_in(const std::function<void()>& parse, QueryFault::Form form) {
  try {
    parse();
    return "taken";
  } catch (const QueryFault& fault) {
    EXPECT_EQ(fault.form, form);
    return fault.what();
  }
}

std::string fault_of(std::string_view text, std::initializer_list<std::string_view> known) {
  return fault_in([&] { (void)UrlQuery::parse(text, known); }, QueryFault::Form::text);
}

UrlQuery query_of(std::string_view text) {
  return UrlQuery::parse(text, {"cpu", "dram", "cpu_ids"});
}

TEST(UrlQuery, HasItsValuesDecoded) {
  EXPECT_EQ(query_of("cpu_ids=0%2C1").find("cpu_ids"), "0,1");
  EXPECT_EQ(query_of("cpu_ids=0,1").find("cpu_ids"), "0,1");
  EXPECT_EQ(query_of("cpu_ids=0,+1").find("cpu_ids"), "0, 1");
  EXPECT_EQ(query_of("cpu_ids=a=b%26%3D").find("cpu_ids"), "a=b&=");
}

TEST(UrlQuery, HasItsNamesDecoded) { EXPECT_EQ(query_of("%63pu=true").find("cpu"), "true"); }

TEST(UrlQuery, MayLackValuesAndParameters) {
  EXPECT_EQ(query_of("cpu").find("cpu"), "");
  EXPECT_EQ(query_of("cpu=").find("cpu"), "");
  EXPECT_EQ(query_of("&&cpu=1&").find("cpu"), "1");
  EXPECT_EQ(query_of("").find("cpu"), std::nullopt);
}

TEST(UrlQuery, WithAnUnknownNameIsRefusedInZeusdsWords) {
  EXPECT_EQ(fault_of("x=1", {"gpu_ids"}),
            "Query deserialize error: unknown field `x`, expected `gpu_ids`");
  EXPECT_EQ(fault_of("x=1", {"cpu", "dram"}),
            "Query deserialize error: unknown field `x`, expected `cpu` or `dram`");
  EXPECT_EQ(fault_of("gpu_ids=1", {"cpu_ids", "cpu", "dram"}),
            "Query deserialize error: unknown field `gpu_ids`, expected one of `cpu_ids`, `cpu`, "
            "`dram`");
  EXPECT_EQ(fault_of("=1", {"gpu_ids"}),
            "Query deserialize error: unknown field ``, expected `gpu_ids`");
}

TEST(UrlQuery, WithANameTwiceIsRefused) {
  EXPECT_EQ(fault_of("cpu=true&cpu=true", {"cpu"}),
            "Query deserialize error: duplicate field `cpu`");
  EXPECT_EQ(fault_of("cpu&%63pu", {"cpu"}), "Query deserialize error: duplicate field `cpu`");
}

TEST(UrlQuery, WithAMalformedEncodingIsRefused) {
  const std::string expected =
      "Query deserialize error: a '%' in `cpu` is not followed by two hexadecimal digits";
  EXPECT_EQ(fault_of("cpu=%", {"cpu"}), expected);
  EXPECT_EQ(fault_of("cpu=%4", {"cpu"}), expected);
  EXPECT_EQ(fault_of("cpu=%4&x", {"cpu"}), expected);
  EXPECT_EQ(fault_of("cpu=%G0", {"cpu"}), expected);
}

TEST(UrlQuery, SaysWhatIsWrongInSafeAndShortWords) {
  EXPECT_EQ(fault_of("%1B%5B%00", {"cpu"}),
            "Query deserialize error: unknown field `\\x1b[\\x00`, expected `cpu`");
  EXPECT_LT(fault_of(std::string(8000, 'x'), {"cpu"}).size(), 200U);
}

std::string boolean_fault(std::string_view text, std::string_view name) {
  return fault_in([&] { (void)query_of(text).boolean(name); }, QueryFault::Form::text);
}

TEST(UrlQuery, HasBooleans) {
  EXPECT_TRUE(query_of("cpu=true").boolean("cpu"));
  EXPECT_FALSE(query_of("cpu=false").boolean("cpu"));
  for (const char* text : {"cpu=1", "cpu=True", "cpu=", "cpu", "cpu=true+", "cpu=yes"}) {
    EXPECT_EQ(boolean_fault(text, "cpu"),
              "Query deserialize error: provided string was not `true` or `false`")
        << text;
  }
  EXPECT_EQ(boolean_fault("cpu=true", "dram"), "Query deserialize error: missing field `dram`");
}

TEST(UrlQuery, HasNumbers) {
  EXPECT_EQ(query_of("cpu=4294967295").number("cpu"), 4'294'967'295U);
  const auto fault = [](std::string_view text) {
    return fault_in([&] { (void)query_of(text).number("cpu"); }, QueryFault::Form::text);
  };
  EXPECT_EQ(fault("cpu=4294967296"),
            "Query deserialize error: `4294967296` in `cpu` is not a whole number of 32 bits");
  EXPECT_EQ(fault("dram=1"), "Query deserialize error: missing field `cpu`");
}

// --- lists of ids ---

TEST(Query, MayHaveANumberOfARange) {
  const UrlQuery query =
      UrlQuery::parse("a=7&b=2.5&c=-1&d=x&e=&f=nan", {"a", "b", "c", "d", "e", "f"});
  EXPECT_EQ(query.whole_number_from("a", 7, 7), 7U);
  EXPECT_EQ(query.number_from("b", 2.5, 3.0), 2.5);
  EXPECT_EQ(query.whole_number_from("none", 1, 9), std::nullopt);
  EXPECT_EQ(query.number_from("none", 1.0, 9.0), std::nullopt);
  const auto fault = [](const std::function<void()>& read) {
    return fault_in(read, QueryFault::Form::json);
  };
  for (const char* name : {"b", "c", "d", "e", "f"}) {
    EXPECT_EQ(fault([&] { (void)query.whole_number_from(name, 0, 9); }),
              "`" + std::string(name) + "` must be a whole number from 0 to 9.");
  }
  for (const char* name : {"a", "c", "d", "e", "f"}) {
    EXPECT_EQ(fault([&] { (void)query.number_from(name, 0.5, 4.0); }),
              "`" + std::string(name) + "` must be a number from 0.5 to 4.");
  }
}

Ids ids_of(std::string_view list) { return parse_ids(list, IdKind::gpu); }

std::string id_fault(std::string_view list, IdKind kind = IdKind::gpu) {
  return fault_in([&] { (void)parse_ids(list, kind); }, QueryFault::Form::json);
}

TEST(Ids, AreSortedAndEachOnce) {
  EXPECT_THAT(ids_of("0"), ElementsAre(0));
  EXPECT_THAT(ids_of("3,1,2,1,3"), ElementsAre(1, 2, 3));
}

TEST(Ids, MayHaveBlanksAround) { EXPECT_THAT(ids_of(" 1 ,\t0"), ElementsAre(0, 1)); }

TEST(Ids, AreTakenAsZeusdsParserDoes) {
  EXPECT_THAT(ids_of("+1,007"), ElementsAre(1, 7));
  EXPECT_THAT(ids_of("18446744073709551615"), ElementsAre(UINT64_MAX));
}

TEST(Ids, MustBeThere) {
  EXPECT_EQ(id_fault(""), "gpu_ids must contain at least one GPU index");
  EXPECT_EQ(id_fault("  "), "gpu_ids must contain at least one GPU index");
  EXPECT_EQ(id_fault("", IdKind::cpu), "cpu_ids must contain at least one CPU index");
}

TEST(Ids, MustNotBeEmpty) {
  for (const char* list : {",", "0,", ",0", "0,,1", "0, ,1"}) {
    EXPECT_EQ(id_fault(list), "gpu_ids contains an empty GPU index") << list;
  }
  EXPECT_EQ(id_fault(",", IdKind::cpu), "cpu_ids contains an empty CPU index");
}

TEST(Ids, MustBeNumbers) {
  for (const char* item : {"x", "-1", "++1", "+", "1.0", "0x1", "1 2", "18446744073709551616"}) {
    EXPECT_EQ(id_fault("0," + std::string(item)), "Invalid GPU index: " + std::string(item));
  }
  EXPECT_EQ(id_fault("a\x1B", IdKind::cpu), "Invalid CPU index: a\\x1b");
}

}  // namespace
}  // namespace wattle::daemon
