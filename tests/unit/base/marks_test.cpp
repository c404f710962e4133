#include "base/marks.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "wattle/mark.hpp"

namespace wattle {
namespace {

TEST(Marks, AreReadAsTheyAreWritten) {
  for (const MarkKind kind : {MarkKind::start, MarkKind::end, MarkKind::next}) {
    for (const char* name : {"a", "two words", "a\nb", " ", "ä"}) {
      const auto mark = parse_mark(mark_text(kind, name));
      ASSERT_TRUE(mark) << name;
      EXPECT_EQ(mark->kind, kind);
      EXPECT_EQ(mark->name, name);
    }
  }
  EXPECT_EQ(parse_mark(mark_text(MarkKind::end, ""))->name, "");
}

TEST(Marks, OfUnitsAreReadAsTheyAreWritten) {
  for (const MarkKind kind : {MarkKind::unit, MarkKind::unit_end}) {
    const Mark sent{.kind = kind, .name = "two words", .id = "r17", .number = 0.1};
    const auto mark = parse_mark(unit_mark_text(sent));
    ASSERT_TRUE(mark);
    EXPECT_EQ(mark->kind, kind);
    EXPECT_EQ(mark->name, sent.name);
    EXPECT_EQ(mark->id, sent.id);
    EXPECT_EQ(mark->number, sent.number);
  }
}

TEST(Marks, OfUnitsHaveAnIdANumberAndATag) {
  const std::string long_id(kMostUnitIdBytes + 1, 'x');
  for (const std::string& text :
       {std::string("unit"), std::string("unit 1"), std::string("unit 1 1"),
        std::string("unit 1 1 "), std::string("unit 1 x a"), std::string("unit 1 nan a"),
        std::string("unit 1 inf a"), std::string("unit  1 a"), "unit " + long_id + " 1 a"}) {
    EXPECT_FALSE(parse_mark(text)) << text;
  }
  EXPECT_EQ(parse_mark("unit 1 1 a\n")->name, "a");
}

TEST(Marks, OfUnitsCanBelongToATrace) {
  const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const Mark sent{.kind = MarkKind::unit,
                  .name = "two words",
                  .id = "r17",
                  .number = 2.0,
                  .trace = parse_traceparent(trace)};
  EXPECT_EQ(unit_mark_text(sent), "unit_trace r17 2 " + trace + " two words");
  const auto mark = parse_mark(unit_mark_text(sent));
  ASSERT_TRUE(mark);
  EXPECT_EQ(mark->kind, MarkKind::unit);
  EXPECT_EQ(mark->name, "two words");
  EXPECT_EQ(mark->trace, sent.trace);
}

TEST(Marks, IgnoreATraceThatIsNotValid) {
  const auto mark = parse_mark("unit_trace r17 1 00-zz a");
  ASSERT_TRUE(mark);
  EXPECT_EQ(mark->name, "a");
  EXPECT_FALSE(mark->trace);
  EXPECT_FALSE(parse_mark("unit_trace r17 1 00-zz"));
  EXPECT_FALSE(parse_mark("unit_trace"));
}

TEST(Marks, MayEndALine) {
  EXPECT_EQ(parse_mark("start a\n")->name, "a");
  EXPECT_EQ(parse_mark("end\n")->name, "");
}

TEST(Marks, HaveNamesThatEndInNoEmptyLineAlsoWhereTheyAreCut) {
  const std::string lines(kMostMarkBytes, '\n');
  EXPECT_FALSE(parse_mark("start " + lines + "a"));
  EXPECT_FALSE(parse_mark("unit 1 1 " + lines + "a"));
  EXPECT_EQ(parse_mark("start a" + lines + "b")->name, "a");
}

TEST(Marks, AreNothingElse) {
  for (const char* text :
       {"", "start", "start ", "next", "next \n", "begin a", "START a", " start a"}) {
    EXPECT_FALSE(parse_mark(text)) << text;
  }
}

TEST(Marks, HaveNamesThatEndWithAWholeCharacter) {
  const std::string name = std::string(kMostMarkBytes - 1, 'x') + "ä";
  EXPECT_EQ(parse_mark("start " + name)->name, std::string(kMostMarkBytes - 1, 'x'));
  EXPECT_EQ(mark_text(MarkKind::start, name), "start " + std::string(kMostMarkBytes - 1, 'x'));
  const std::string no_text(1000, '\x80');
  EXPECT_EQ(parse_mark("start " + no_text)->name.size(), kMostMarkBytes);
}

TEST(Marks, GoNowhereOutsideOfARun) {
  ::unsetenv(kMarkVariable);
  EXPECT_EQ(send_mark(MarkKind::start, "a"), ENOENT);
  EXPECT_FALSE(mark("a"));
  EXPECT_FALSE(mark(""));
  { const Phase phase("a"); }
  ::setenv(kMarkVariable, "/nowhere/marks", 1);
  EXPECT_EQ(send_mark(MarkKind::start, "a"), ECONNREFUSED);
  ::setenv(kMarkVariable, std::string(200, 'x').c_str(), 1);
  EXPECT_EQ(send_mark(MarkKind::start, "a"), ENAMETOOLONG);
  ::unsetenv(kMarkVariable);
}

}  // namespace
}  // namespace wattle
