#include "auth/base64url.hpp"

#include <gtest/gtest.h>

#include <string>

namespace wattle::daemon {
namespace {

/// The `count` bytes that end in 0xFF.
std::string last_bytes(int count) {
  std::string bytes;
  for (int i = 256 - count; i < 256; ++i) bytes += static_cast<char>(i);
  return bytes;
}

TEST(Base64Url, UsesTheAlphabetForUrlsWithoutPadding) {
  EXPECT_EQ(to_base64url(last_bytes(33)), "3-Dh4uPk5ebn6Onq6-zt7u_w8fLz9PX29_j5-vv8_f7_");
  EXPECT_EQ(to_base64url(last_bytes(34)), "3t_g4eLj5OXm5-jp6uvs7e7v8PHy8_T19vf4-fr7_P3-_w");
  EXPECT_EQ(to_base64url(last_bytes(35)), "3d7f4OHi4-Tl5ufo6err7O3u7_Dx8vP09fb3-Pn6-_z9_v8");
  EXPECT_EQ(to_base64url(""), "");
}

TEST(Base64Url, GivesTheBytesBack) {
  for (int count = 0; count <= 256; ++count) {
    const std::string bytes = last_bytes(count);
    EXPECT_EQ(from_base64url(to_base64url(bytes)), bytes);
  }
}

TEST(Base64Url, RefusesAllOtherCharacters) {
  for (int i = 0; i < 256; ++i) {
    const std::string text = std::string("AAA") + static_cast<char>(i);
    const bool is_of_alphabet = std::isalnum(i) != 0 || i == '-' || i == '_';
    EXPECT_EQ(from_base64url(text).has_value(), is_of_alphabet) << i;
  }
}

TEST(Base64Url, RefusesALoneCharacter) {
  EXPECT_EQ(from_base64url("A"), std::nullopt);
  EXPECT_EQ(from_base64url("AAAAA"), std::nullopt);
}

TEST(Base64Url, RefusesBitsPastTheEnd) {
  EXPECT_EQ(from_base64url("_w"), "\xFF");
  EXPECT_EQ(from_base64url("_x"), std::nullopt);
  EXPECT_EQ(from_base64url("__8"), "\xFF\xFF");
  EXPECT_EQ(from_base64url("__9"), std::nullopt);
}

TEST(Base64Url, RefusesPadding) {
  EXPECT_EQ(from_base64url("_w=="), std::nullopt);
  EXPECT_EQ(from_base64url("__8="), std::nullopt);
}

}  // namespace
}  // namespace wattle::daemon
