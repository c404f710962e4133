#include "auth/signing_key.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <string_view>

#include "fakes/temp_folder.hpp"
#include "fakes/unprivileged.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

using testing::HasSubstr;

class SigningKey : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return (folder_.path() / "key").string(); }
  [[nodiscard]] std::string file(std::string_view content, mode_t mode = 0600) const {
    folder_.write("key", content);
    EXPECT_EQ(::chmod(path().c_str(), mode), 0);
    return path();
  }
  /// The error for the file at `path()`.
  [[nodiscard]] std::string refusal() const {
    try {
      (void)read_signing_key(path());
      return "taken";
    } catch (const Error& error) {
      return error.what();
    }
  }
  fakes::TempFolder folder_;
};

const std::string kFileKey(32, 'k');

TEST_F(SigningKey, IsTheFilesBytesAsTheyAre) {
  const std::string content = std::string(" \0\r\xFF", 4) + kFileKey + "\n\n";
  EXPECT_EQ(read_signing_key(file(content)), content);
}

TEST_F(SigningKey, MayBeReadableByTheGroup) {
  EXPECT_EQ(read_signing_key(file(kFileKey, 0640)), kFileKey);
  EXPECT_EQ(read_signing_key(file(kFileKey, 0400)), kFileKey);
}

TEST_F(SigningKey, ThatOthersMayReadOrChangeIsRefused) {
  for (const mode_t mode : {0644U, 0604U, 0602U, 0601U}) {
    (void)file(kFileKey, mode);
    EXPECT_THAT(refusal(), HasSubstr("other users have access to it; run 'chmod o= FILE'")) << mode;
  }
}

TEST_F(SigningKey, OfFewerThan32BytesIsRefused) {
  (void)file(std::string(31, 'k'));
  EXPECT_THAT(refusal(), HasSubstr("it has 31 bytes and needs 32 at least"));
  (void)file("");
  EXPECT_THAT(refusal(), HasSubstr("it has 0 bytes"));
}

TEST_F(SigningKey, HasALargestSize) {
  EXPECT_EQ(read_signing_key(file(std::string(kMaxKeyBytes, 'k'))).size(), kMaxKeyBytes);
  (void)file(std::string(kMaxKeyBytes + 1, 'k'));
  EXPECT_THAT(refusal(), HasSubstr("larger than 64 KiB"));
}

TEST_F(SigningKey, ThatIsMissingIsNamed) {
  EXPECT_THAT(refusal(), HasSubstr("cannot use the signing key " + path() + ": there is no such"));
}

TEST_F(SigningKey, ThatIsAFolderIsRefused) {
  ASSERT_EQ(::mkdir(path().c_str(), 0700), 0);
  EXPECT_THAT(refusal(), HasSubstr("not a regular file"));
}

TEST_F(SigningKey, ThatIsAPipeIsRefusedAtOnce) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("not a regular file"));
}

TEST_F(SigningKey, ThatMayNotBeOpenedNamesTheRemedy) {
  (void)file(kFileKey, 0000);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  const fakes::Unprivileged user;
  if (!user.holds()) GTEST_SKIP() << "root cannot become an ordinary user here";
  EXPECT_THROW((void)read_signing_key(path()), PermissionDenied);
}

}  // namespace
}  // namespace wattle::daemon
