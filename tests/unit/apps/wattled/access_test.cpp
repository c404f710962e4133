#include "auth/access.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <variant>

#include "tokens.hpp"

namespace wattle::daemon {
namespace {

using namespace tokens;

std::optional<Denial> denied(std::optional<std::string_view> authorization) {
  auto result = authenticate(authorization, kKey, kNow);
  if (const auto* const denial = std::get_if<Denial>(&result)) return *denial;
  return std::nullopt;
}

const Denial kMissing{401,
                      "Authentication required. Provide an Authorization: Bearer <token> header."};

TEST(Access, IsGivenToWhoHasAToken) {
  const auto result = authenticate("Bearer " + kAlice, kKey, kNow);
  ASSERT_TRUE(std::holds_alternative<Claims>(result));
  EXPECT_EQ(std::get<Claims>(result).subject, "alice");
}

TEST(Access, NeedsAHeader) { EXPECT_EQ(denied(std::nullopt), kMissing); }

TEST(Access, NeedsTheWordBearerAndOneBlank) {
  for (const std::string prefix :
       {"", "bearer ", "BEARER ", "Bearer", "Bearer\t", " Bearer ", "Basic ", "Token "}) {
    EXPECT_EQ(denied(prefix + kAlice), kMissing) << prefix;
  }
  EXPECT_EQ(denied("Bearer  " + kAlice), (Denial{401, "Invalid token: it was not accepted."}));
}

TEST(Access, ReportsOneReasonForEveryTokenThatIsInvalid) {
  const Denial invalid{401, "Invalid token: it was not accepted."};
  EXPECT_EQ(denied("Bearer "), invalid);
  EXPECT_EQ(denied("Bearer x.y.z"), invalid);
  EXPECT_EQ(denied("Bearer " + kOfAnotherKey), invalid);
  EXPECT_EQ(denied("Bearer " + sign(kHeader, "{}", kKey)), invalid);
  EXPECT_EQ(denied("Bearer " + kAlice + ", Bearer " + kAlice), invalid);
}

TEST(Access, ReportsThatATokenExpired) {
  const std::string old = issue({.subject = "a", .expires_unix_s = 1}, kKey);
  EXPECT_EQ(denied("Bearer " + old), (Denial{401, "Token has expired."}));
}

TEST(Access, IsForTheScopesOfTheToken) {
  const Claims claims{.subject = "u", .scopes = {TokenScope::gpu_read, TokenScope::gpu_control}};
  EXPECT_EQ(authorize(claims, TokenScope::gpu_read), std::nullopt);
  EXPECT_EQ(authorize(claims, TokenScope::gpu_control), std::nullopt);
  EXPECT_EQ(authorize(claims, TokenScope::cpu_read),
            (Denial{403,
                    "Token for user 'u' lacks required scope 'cpu-read'. Token scopes: "
                    "['gpu-read', 'gpu-control']"}));
}

TEST(Access, IsDeniedWithoutScopesAndNamesEscaped) {
  EXPECT_EQ(authorize({.subject = "a\x1B[0m\n"}, TokenScope::gpu_read),
            (Denial{403,
                    "Token for user 'a\\x1b[0m\\x0a' lacks required scope 'gpu-read'. Token "
                    "scopes: []"}));
}

TEST(Access, HasZeusdsWordsForWhatIsOff) {
  EXPECT_EQ(group_disabled(TokenScope::gpu_control),
            (Denial{404,
                    "API group 'gpu-control' is not enabled on this server. To enable it: wattled "
                    "serve --enable gpu-read,cpu-read,gpu-control."}));
  EXPECT_EQ(group_disabled(TokenScope::cpu_read),
            (Denial{404, "API group 'cpu-read' is not enabled on this server."}));
  EXPECT_EQ(authentication_disabled(),
            (Denial{404, "Authentication is not enabled on this server."}));
}

TEST(Access, HasAnAnswerForPeersThatFailTooOften) { EXPECT_EQ(too_many_failures().status, 429); }

}  // namespace
}  // namespace wattle::daemon
