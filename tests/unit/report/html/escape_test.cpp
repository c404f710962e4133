#include "report/html/escape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "report/html/content_hash.hpp"

namespace wattle::html {
namespace {

TEST(HtmlEscape, LeavesNoCharacterThatMeansSomething) {
  EXPECT_EQ(escaped(R"(<b a="1" c='2'>&amp;</b>)"),
            "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;&lt;/b&gt;");
}

TEST(HtmlEscape, ShowsControlCharactersAndBytesThatAreNotText) {
  EXPECT_EQ(escaped(std::string("a\0b\x1b[1m\n\x7f", 9)), R"(a\x00b\x1b[1m\x0a\x7f)");
  EXPECT_EQ(escaped("\xff\xc3 \xed\xa0\x80"), R"(\xff\xc3 \xed\xa0\x80)");
  EXPECT_EQ(escaped("größer µ"), "größer µ");
}

TEST(HtmlEscape, ShowsWhatWouldTurnTheDirectionOfWriting) {
  EXPECT_EQ(escaped("a\u202Eb\u2066c\u200Fd\u061Ce"), R"(a\u{202e}b\u{2066}c\u{200f}d\u{061c}e)");
  EXPECT_EQ(escaped("–…"), "–…") << "their neighbours stay";
}

TEST(HtmlEscape, EndsALongText) {
  EXPECT_EQ(escaped("abcdef", 3), "abc...");
  EXPECT_EQ(escaped(std::string(1'000'000, '<')).size(), 4000 * 4U + 3);
}

// Of FIPS 180-4's examples.
TEST(ContentHash, OfKnownTexts) {
  EXPECT_EQ(content_hash(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
  EXPECT_EQ(content_hash("abc"), "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
  EXPECT_EQ(content_hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "sha256-JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE=");
  EXPECT_EQ(content_hash(std::string(1'000'000, 'a')),
            "sha256-zcduXJkU+5KBocfihNc+Z/GAmkiklyAOBG05zMcRLNA=");
  // What is left for the length in the last block: exactly enough, and not.
  EXPECT_EQ(content_hash(std::string(55, 'a')),
            "sha256-n0OQ+NMMLdkuyfCVtl4rmumwqSWlJY4kHJ8ekQ9zQxg=");
  EXPECT_EQ(content_hash(std::string(56, 'a')),
            "sha256-s1Q5pKxvCUi21vnjxq8PX1kM4g8b3nCQ73lwaG7Gc4o=");
}

}  // namespace
}  // namespace wattle::html
