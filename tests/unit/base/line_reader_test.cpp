#include "base/text/line_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "fakes/temp_folder.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Lines {
  std::vector<std::string> lines;
  std::size_t damaged = 0;
  int error = 0;
};

Lines read_at(const std::string& path) {
  LineReader reader(open_for_reading(path));
  Lines result;
  while (const auto line = reader.next()) result.lines.emplace_back(*line);
  result.damaged = reader.damaged();
  result.error = reader.error();
  return result;
}

Lines read(const std::string& content) {
  const fakes::TempFolder folder;
  folder.write("f", content);
  return read_at((folder.path() / "f").string());
}

TEST(LineReader, GivesLinesWithoutTheirEnds) {
  EXPECT_THAT(read("a\n\nb\r\n\r\nc\rd\n").lines, ElementsAre("a", "", "b", "", "c\rd"));
  EXPECT_THAT(read("").lines, IsEmpty());
  EXPECT_EQ(read("a\n").damaged, 0U);
}

TEST(LineReader, KeepsToItselfALastLineThatWasCutOff) {
  const Lines lines = read("a\nhal");
  EXPECT_THAT(lines.lines, ElementsAre("a"));
  EXPECT_EQ(lines.damaged, 1U);
}

TEST(LineReader, GivesALastLineWithoutItsEndWhereThatIsAsked) {
  const fakes::TempFolder folder;
  folder.write("f", "a\nb");
  LineReader reader(open_for_reading((folder.path() / "f").string()), LineReader::kMaxLineBytes,
                    LineReader::LastLine::is_whole_without_end);
  EXPECT_EQ(reader.next(), "a");
  EXPECT_EQ(reader.next(), "b");
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.damaged(), 0U);
}

TEST(LineReader, PassesOverLinesThatAreTooLong) {
  const std::string most(LineReader::kMaxLineBytes, 'm');
  for (const std::size_t length : {LineReader::kMaxLineBytes + 1, std::size_t{1'000'000}}) {
    const Lines lines = read("a\n" + std::string(length, '\0') + "\n" + most + "\nb\n");
    EXPECT_THAT(lines.lines, ElementsAre("a", most, "b"));
    EXPECT_EQ(lines.damaged, 1U);
  }
  const Lines endless = read("a\n" + std::string(1'000'000, 'x'));
  EXPECT_THAT(endless.lines, ElementsAre("a"));
  EXPECT_EQ(endless.damaged, 1U);
}

TEST(LineReader, PutsLinesTogetherThatLieAcrossItsBuffer) {
  std::string content;
  std::vector<std::string> expected;
  for (int i = 0; i < 20'000; ++i) {
    expected.push_back(std::string(static_cast<std::size_t>(i % 97), 'x') + std::to_string(i));
    content += expected.back() + "\n";
  }
  EXPECT_EQ(read(content).lines, expected);
}

TEST(LineReader, SaysWhyItStopped) {
  EXPECT_EQ(read_at("/").error, EISDIR);
  EXPECT_EQ(read("a\n").error, 0);
}

/// ASCII as UTF-16.
std::string utf16(const std::string& text, bool is_little) {
  std::string bytes;
  for (const char c : text) bytes += is_little ? std::string{c, '\0'} : std::string{'\0', c};
  return bytes;
}

TEST(LineReader, SkipsAByteOrderMark) {
  const Lines lines = read(
      "\xEF\xBB\xBF"
      "a\nb\n");
  EXPECT_THAT(lines.lines, ElementsAre("a", "b"));
}

TEST(LineReader, TakesTheLineEndsOfATerminalForOne) {
  EXPECT_THAT(read("a\r\r\nb\r\n").lines, ElementsAre("a", "b"));
}

TEST(LineReader, ReadsLinesThatEndInCrAlone) {
  EXPECT_THAT(read("a\rb\r").lines, ElementsAre("a", "b"));
  EXPECT_THAT(read("\xFF\xFE" + utf16("ab\rc\r", true)).lines, ElementsAre("ab", "c"));
  EXPECT_THAT(read("a\rb").lines, ElementsAre("a")) << "the last one was cut off";
}

TEST(LineReader, KeepsToLineFeedsAfterTheCrOfAProgressBar) {
  EXPECT_THAT(read("10 %\r20 %\na\nb\n").lines, ElementsAre("10 %\r20 %", "a", "b"));
}

TEST(LineReader, ReadsUtf16WithAMark) {
  EXPECT_THAT(read("\xFF\xFE" + utf16("ab\r\nc\n", true)).lines, ElementsAre("ab", "c"));
  EXPECT_THAT(read("\xFE\xFF" + utf16("ab\r\nc\n", false)).lines, ElementsAre("ab", "c"));
}

TEST(LineReader, ReadsUtf16WithoutAMark) {
  EXPECT_THAT(read(utf16("timestamp\n1\n", true)).lines, ElementsAre("timestamp", "1"));
  EXPECT_THAT(read(utf16("timestamp\n1\n", false)).lines, ElementsAre("timestamp", "1"));
}

TEST(LineReader, ReadsUtf16LongerThanItsBuffer) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + "\n";
  const Lines lines = read("\xFF\xFE" + utf16(text, true));
  ASSERT_EQ(lines.lines.size(), 100'000U);
  for (int i = 0; i < 100'000; ++i) {
    ASSERT_EQ(lines.lines[static_cast<std::size_t>(i)], std::to_string(i));
  }
}

TEST(LineReader, HasTheCharactersOfUtf16) {
  using namespace std::string_literals;
  // e acute, a euro sign, a face outside of the first plane, half of a pair
  const std::string bytes = "\xFF\xFE\xE9\0\xAC\x20\x3D\xD8\x00\xDE\x3D\xD8\n\0"s;
  EXPECT_THAT(read(bytes).lines, ElementsAre("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBF\xBD"));
}

TEST(LineReader, NamesWhatIsNoText) {
  const fakes::TempFolder folder;
  folder.write("f", "\x1F\x8B\x08 compressed\n");
  LineReader reader(open_for_reading((folder.path() / "f").string()));
  (void)reader.next();
  EXPECT_EQ(reader.start().foreign, "a gzip file");
}

}  // namespace
}  // namespace wattle
