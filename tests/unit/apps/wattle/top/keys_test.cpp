#include "top/keys.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace wattle::app {
namespace {

constexpr TimePoint kLater = TimePoint(KeyDecoder::kPatience);

std::vector<KeyKind> kinds_of(std::string_view bytes) {
  std::vector<KeyKind> kinds;
  KeyDecoder decoder;
  for (const Key& key : decoder.take(bytes)) kinds.push_back(key.kind);
  return kinds;
}

TEST(KeyDecoder, KnowsTheKeysOfTheUsualTerminals) {
  using enum KeyKind;
  EXPECT_EQ(kinds_of("\x1b[A\x1b[B\x1bOA\x1bOB"), (std::vector{up, down, up, down}));
  EXPECT_EQ(kinds_of("\x1b[5~\x1b[6~"), (std::vector{page_up, page_down}));
  EXPECT_EQ(kinds_of("\x1b[H\x1b[F\x1b[1~\x1b[4~\x1b[7~\x1b[8~\x1bOH"),
            (std::vector{home, end, home, end, home, end, home}));
  EXPECT_EQ(kinds_of("\r\n\x7f\b\x03\x04\x0c"),
            (std::vector{enter, enter, backspace, backspace, interrupt, interrupt, refresh}));
  EXPECT_EQ(kinds_of("\x1b[1;5A"), (std::vector{up})) << "with Ctrl";
}

TEST(KeyDecoder, TakesWholeCharactersAlone) {
  KeyDecoder decoder;
  EXPECT_TRUE(decoder.take("\xc3").empty());
  EXPECT_TRUE(decoder.is_waiting());
  const std::vector<Key> keys = decoder.take("\xa4q");
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].text, "ä");
  EXPECT_EQ(keys[1].text, "q");
  EXPECT_TRUE(kinds_of("\xff\x80\x01\xc2\x9b").empty()) << "no characters, or controls";
}

TEST(KeyDecoder, ReadsTheMouse) {
  KeyDecoder decoder;
  const std::vector<Key> keys = decoder.take("\x1b[<0;12;5M\x1b[<0;12;5m\x1b[<64;1;1M\x1b[M !#");
  ASSERT_EQ(keys.size(), 3U) << "a release is no key";
  EXPECT_EQ(keys[0], (Key{.kind = KeyKind::click, .column = 11, .line = 4}));
  EXPECT_EQ(keys[1].kind, KeyKind::wheel_up);
  EXPECT_EQ(keys[2], (Key{.kind = KeyKind::click, .column = 0, .line = 2}));
}

TEST(KeyDecoder, IgnoresWhatItDoesNotKnow) {
  EXPECT_TRUE(kinds_of("\x1b[15~\x1b[Z\x1b[<;1;1M\x1b[<0;0;0M\x1b[?1;2c").empty());
  EXPECT_EQ(kinds_of("\x1b]11;rgb:0/0/0\x07q").size(), 1U) << "a reply of the terminal";
  EXPECT_EQ(kinds_of("\x1bP>|xterm\x1b\\q").size(), 1U);
}

TEST(KeyDecoder, TakesAnEscapeForItsKeyIfNothingFollows) {
  KeyDecoder decoder;
  EXPECT_TRUE(decoder.take("\x1b").empty());
  ASSERT_TRUE(decoder.is_waiting());
  EXPECT_EQ(decoder.end_sequence(kLater)->kind, KeyKind::escape);
  EXPECT_FALSE(decoder.is_waiting());
  EXPECT_TRUE(decoder.take("\x1b[1;").empty());
  EXPECT_FALSE(decoder.end_sequence(kLater));
}

TEST(KeyDecoder, DoesNotEndASequenceBeforeItsTime) {
  using std::chrono::milliseconds;
  KeyDecoder decoder;
  EXPECT_EQ(decoder.wait_ms({}), -1);
  EXPECT_TRUE(decoder.take("\x1b[", TimePoint(milliseconds(10))).empty());
  // Something else woke the program up.
  EXPECT_FALSE(decoder.end_sequence(TimePoint(milliseconds(30))));
  EXPECT_EQ(decoder.wait_ms(TimePoint(milliseconds(30))), 30);
  EXPECT_EQ(decoder.take("5", TimePoint(milliseconds(40))).size(), 0U);
  EXPECT_EQ(decoder.wait_ms(TimePoint(milliseconds(60))), 30) << "from the newest byte on";
  EXPECT_FALSE(decoder.end_sequence(TimePoint(milliseconds(60))));
  const std::vector<Key> keys = decoder.take("~", TimePoint(milliseconds(70)));
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_EQ(keys[0].kind, KeyKind::page_up);
}

TEST(KeyDecoder, KeepsLittleWhateverComes) {
  std::mt19937 random(42);  // NOLINT(cert-msc51-cpp): always the same
  KeyDecoder decoder;
  for (int i = 0; i < 100'000; ++i) {
    const char byte = static_cast<char>(random());
    for (const Key& key : decoder.take({&byte, 1})) EXPECT_LE(key.text.size(), 4U);
  }
  (void)decoder.end_sequence(kLater);
  (void)decoder.take("\x1b[" + std::string(1000, '1'));
  EXPECT_EQ(decoder.take("q").size(), 1U) << "a sequence without end is dropped";
}

}  // namespace
}  // namespace wattle::app
