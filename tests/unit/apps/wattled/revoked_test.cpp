#include "auth/revoked.hpp"

#include <gtest/gtest.h>

#include <string>

#include "auth/token.hpp"
#include "fakes/temp_folder.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

const std::string kToken =
    issue({.subject = "alice", .scopes = {}, .expires_unix_s = {}}, std::string(32, 'k'));

TEST(Revoked, NamesTokensAsTheyAre) {
  const Revoked revoked = Revoked::parse("# lost\n\n  " + kToken + " # of the old laptop\r\n");
  EXPECT_TRUE(revoked.contains(token_id(kToken), "alice"));
  EXPECT_FALSE(revoked.contains(token_id(kToken + "x"), "alice"));
}

TEST(Revoked, NamesTokensByTheirId) {
  const Revoked revoked = Revoked::parse("id " + token_id(kToken));
  EXPECT_TRUE(revoked.contains(token_id(kToken), "alice"));
}

TEST(Revoked, NamesAllTokensOfAUser) {
  const Revoked revoked = Revoked::parse("user alice\nuser bob b\n");
  EXPECT_TRUE(revoked.contains("", "alice"));
  EXPECT_TRUE(revoked.contains("", "bob b"));
  EXPECT_FALSE(revoked.contains("", "bob"));
}

TEST(Revoked, HasNoLineThatNamesNothing) {
  for (const char* const line : {"alice", "id", "id 12",
                                 "id "
                                 "XYZ",
                                 "user", "a.b", "a.b.c d", "id 0123456789ABCDEF0123456789ABCDEF"}) {
    EXPECT_THROW((void)Revoked::parse(std::string("\n") + line), InvalidArgument) << line;
  }
}

TEST(Revoked, IsReadFromAFileThatMustBeThere) {
  const fakes::TempFolder folder;
  folder.write("revoked", "user alice\n");
  EXPECT_TRUE(read_revoked((folder.path() / "revoked").string()).contains("", "alice"));
  EXPECT_THROW((void)read_revoked((folder.path() / "missing").string()), InvalidArgument);
}

TEST(TokenId, IsTheBeginOfItsHash) {
  EXPECT_EQ(token_id("abc"), "ba7816bf8f01cfea414140de5dae2223");
}

}  // namespace
}  // namespace wattle::daemon
