#include "auth/token.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <variant>

#include "tokens.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

using namespace tokens;
using Result = std::variant<Claims, TokenFault>;

Result verified(std::string_view token) { return verify(token, kKey, kNow); }

/// What a token of these claims, rightly signed, is taken for.
Result verified_claims(std::string_view claims) { return verified(sign(kHeader, claims, kKey)); }

Result verified_header(std::string_view header) {
  return verified(sign(header, R"({"sub":"a","scopes":[]})", kKey));
}

const Result kInvalid = TokenFault::invalid;
const Result kExpired = TokenFault::expired;
const Claims kAliceClaims{.subject = "alice",
                          .scopes = {TokenScope::gpu_read, TokenScope::cpu_read},
                          .expires_unix_s = 9'999'999'999};

std::string with_claim(std::string_view claim) {
  return R"({"sub":"a","scopes":[],)" + std::string(claim) + "}";
}

std::string expiring_at(std::int64_t unix_s) {
  return with_claim(R"("exp":)" + std::to_string(unix_s));
}

TEST(Token, MadeByAnotherProgramIsTaken) {
  EXPECT_EQ(verified(kAlice), Result(kAliceClaims));
  EXPECT_EQ(verified(kBob), Result(Claims{.subject = "bob", .scopes = {TokenScope::gpu_control}}));
}

TEST(Token, MayHaveBlanksOtherClaimsAndAnyOrder) {
  // {"iat": 1, "scopes": [], "sub": "Jürgen \u2603", "extra": {"a": [1]}}
  EXPECT_EQ(verified("eyAiYWxnIjogIkhTMjU2IiB9."
                     "eyJpYXQiOiAxLCAic2NvcGVzIjogW10sICJzdWIiOiAiSsO8cmdlbiBcdTI2MDMiLCAiZXh0cmEi"
                     "OiB7ImEiOiBbMV19fQ.8wYAhimdUfpEdbzf72q3XmYtu045BgCdMF1hWN7plvA"),
            Result(Claims{.subject = "Jürgen ☃"}));
}

TEST(Token, IsIssuedByteForByteAsZeusdDoes) {
  EXPECT_EQ(issue(kAliceClaims, kKey), kAlice);
  EXPECT_EQ(issue({.subject = "bob", .scopes = {TokenScope::gpu_control}}, kKey), kBob);
}

TEST(Token, SaysAfterIssuingWhatItWasIssuedFor) {
  const Claims claims{.subject = "a \"b\"\\\n\t\x01 ☃", .scopes = {TokenScope::cpu_read}};
  EXPECT_EQ(verified(issue(claims, kKey)), Result(claims));
}

TEST(Token, OfAnotherKeyIsRefused) {
  EXPECT_EQ(verified(kOfAnotherKey), kInvalid);
  EXPECT_EQ(verify(kAlice, "", kNow), kInvalid);
  EXPECT_EQ(verify(kAlice, std::string(kKey) + 'x', kNow), kInvalid);
}

TEST(Token, WithAnyBitFlippedIsRefused) {
  for (std::size_t i = 0; i < kAlice.size(); ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string token = kAlice;
      token[i] = static_cast<char>(static_cast<unsigned char>(token[i]) ^ (1U << bit));
      EXPECT_EQ(verified(token), kInvalid) << token;
    }
  }
}

TEST(Token, CutShortAnywhereIsRefused) {
  for (std::size_t size = 0; size < kAlice.size(); ++size) {
    EXPECT_EQ(verified(kAlice.substr(0, size)), kInvalid) << size;
  }
}

TEST(Token, WithAnythingAroundItIsRefused) {
  for (const char* more : {" ", "=", "A", ".", "\n"}) {
    EXPECT_EQ(verified(kAlice + more), kInvalid);
    EXPECT_EQ(verified(more + kAlice), kInvalid);
  }
  EXPECT_EQ(verified(kAlice + std::string(1, '\0')), kInvalid);
}

TEST(Token, OfAnotherNumberOfPartsIsRefused) {
  for (const char* text : {"", ".", "..", "...", "a", "a.b", "a.b.c.d"}) {
    EXPECT_EQ(verified(text), kInvalid) << text;
  }
}

TEST(Token, WithoutSignatureIsRefused) {
  EXPECT_EQ(verified(kAlice.substr(0, kAlice.rfind('.') + 1)), kInvalid);
}

TEST(Token, WithPaddedSignatureIsRefused) { EXPECT_EQ(verified(kAlice + '='), kInvalid); }

TEST(Token, OfTheAlgorithmNoneIsRefused) {
  EXPECT_EQ(
      verified("eyJ0eXAiOiJKV1QiLCJhbGciOiJub25lIn0."
               "eyJzdWIiOiJhbGljZSIsInNjb3BlcyI6WyJncHUtcmVhZCIsImNwdS1yZWFkIl0sImV4cCI6OTk5OT"
               "k5OTk5OX0."),
      kInvalid);
}

TEST(Token, SignedWithHmacSha384IsRefused) {
  EXPECT_EQ(
      verified("eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzM4NCJ9."
               "eyJzdWIiOiJhbGljZSIsInNjb3BlcyI6WyJncHUtcmVhZCIsImNwdS1yZWFkIl0sImV4cCI6OTk5OT"
               "k5OTk5OX0.hq4H4t4cnDrSbDYWt7rnf6JqF0ywLhlac7EI4rKct03t2oXKaxTVat8VbE2WBjvq"),
      kInvalid);
}

TEST(Token, RightlySignedMustNameItsAlgorithm) {
  for (const char* header :
       {R"({"alg":"none"})", R"({"alg":"None"})", R"({"alg":"HS384"})", R"({"alg":"HS512"})",
        R"({"alg":"RS256"})", R"({"alg":"ES256"})", R"({"alg":"hs256"})", R"({"alg":" HS256"})",
        R"({"alg":null})", R"({"alg":["HS256"]})", R"({"typ":"JWT"})", "{}", "[]", "\"HS256\"", "",
        "{", R"({"alg":"HS256"} x)"}) {
    EXPECT_EQ(verified_header(header), kInvalid) << header;
  }
  EXPECT_NE(verified_header(R"({"alg":"HS256"})"), kInvalid);
}

TEST(Token, RightlySignedWithAnExtensionThatMustBeKnownIsRefused) {
  EXPECT_EQ(verified_header(R"({"alg":"HS256","crit":["b64"],"b64":false})"), kInvalid);
}

TEST(Token, NamingAKeyTwiceIsRefused) {
  for (const char* claims :
       {R"({"sub":"a","sub":"b","scopes":[]})", R"({"sub":"a","scopes":[],"scopes":["cpu-read"]})",
        R"({"sub":"a","scopes":[],"exp":1,"exp":9999999999})",
        R"({"sub":"a","s\u0075b":"b","scopes":[]})",
        R"({"sub":"a","scopes":[],"x":{"y":1,"y":1}})"}) {
    EXPECT_EQ(verified_claims(claims), kInvalid) << claims;
  }
  EXPECT_EQ(verified_header(R"({"alg":"HS256","alg":"HS256"})"), kInvalid);
  EXPECT_EQ(verified_header(R"({"alg":"none","alg":"HS256"})"), kInvalid);
}

TEST(Token, MayNameAKeyInTwoObjects) {
  EXPECT_NE(verified_claims(with_claim(R"("x":{"sub":1},"y":[{"sub":1},{"sub":2}])")), kInvalid);
}

TEST(Token, DeeperThanFourIsRefused) {
  EXPECT_NE(verified_claims(with_claim(R"("x":[[[]]])")), kInvalid);
  EXPECT_EQ(verified_claims(with_claim(R"("x":[[[[]]]])")), kInvalid);
  EXPECT_EQ(verified_claims(std::string(5000, '[')), kInvalid);
  EXPECT_EQ(
      verified_claims(with_claim(R"("x":)" + std::string(2500, '[') + std::string(2500, ']'))),
      kInvalid);
}

TEST(Token, LongerThanTheLimitIsRefused) {
  const auto named = [](std::size_t size) {
    return sign(kHeader, R"({"sub":")" + std::string(size, 'a') + R"(","scopes":[]})", kKey);
  };
  std::size_t size = 6000;
  while (named(size + 1).size() <= kMaxTokenBytes) ++size;
  EXPECT_NE(verified(named(size)), kInvalid);
  EXPECT_EQ(verified(named(size + 1)), kInvalid);
  EXPECT_EQ(verified(std::string(10'000'000, '.')), kInvalid);
}

TEST(Token, WithClaimsMissingOrOfAnotherTypeIsRefused) {
  for (const char* claims :
       {"", "{}", "[]", "null", R"(["a",[]])", R"({"sub":"a"})", R"({"scopes":[]})",
        R"({"sub":1,"scopes":[]})", R"({"sub":null,"scopes":[]})", R"({"sub":["a"],"scopes":[]})",
        R"({"sub":"a","scopes":null})", R"({"sub":"a","scopes":"cpu-read"})",
        R"({"sub":"a","scopes":{"cpu-read":1}})", R"({"sub":"a","scopes":[["cpu-read"]]})",
        R"({"sub":"a","scopes":[1]})", R"({"Sub":"a","scopes":[]})", R"({"sub":"a","scopes":[]}})",
        R"({"sub":"a","scopes":[],})", "{\"sub\":\"\xFF\",\"scopes\":[]}"}) {
    EXPECT_EQ(verified_claims(claims), kInvalid) << claims;
  }
}

TEST(Token, WithAScopeThatIsNoneIsRefusedWhole) {
  for (const char* scope :
       {"", "cpu", "CPU-read", "cpu-read ", "cpu_read", "gpu-read,cpu-read", "*", "hires"}) {
    EXPECT_EQ(verified_claims(R"({"sub":"a","scopes":["cpu-read",")" + std::string(scope) + "\"]}"),
              kInvalid)
        << scope;
  }
}

TEST(Token, ForAnAudienceIsRefused) {
  EXPECT_EQ(verified_claims(with_claim(R"("aud":"x")")), kInvalid);
  EXPECT_EQ(verified_claims(with_claim(R"("aud":null)")), kInvalid);
}

TEST(Token, IsGoodUntilAMinuteAfterItsExpiry) {
  EXPECT_NE(verified_claims(expiring_at(kNow + 61)), kExpired);
  EXPECT_NE(verified_claims(expiring_at(kNow)), kExpired);
  EXPECT_NE(verified_claims(expiring_at(kNow - 60)), kExpired);
  EXPECT_EQ(verified_claims(expiring_at(kNow - 61)), kExpired);
  EXPECT_EQ(verified_claims(expiring_at(0)), kExpired);
}

TEST(Token, IsGoodFromAMinuteBeforeItsBegin) {
  const auto beginning_at = [](std::int64_t unix_s) {
    return with_claim(R"("nbf":)" + std::to_string(unix_s));
  };
  EXPECT_NE(verified_claims(beginning_at(kNow - 61)), kInvalid);
  EXPECT_NE(verified_claims(beginning_at(kNow + 60)), kInvalid);
  EXPECT_EQ(verified_claims(beginning_at(kNow + 61)), kInvalid);
  EXPECT_EQ(verified_claims(with_claim(R"("nbf":"0")")), kInvalid);
}

TEST(Token, WithAnExpiryThatIsNoIntegerIsRefused) {
  for (const char* expiry : {"null", "true", "\"9999999999\"", "9999999999.0", "1e10", "[]",
                             "1e999", "9223372036854775808", "18446744073709551616"}) {
    EXPECT_EQ(verified_claims(with_claim(R"("exp":)" + std::string(expiry))), kInvalid) << expiry;
  }
  EXPECT_EQ(verified_claims(expiring_at(-1)), kExpired);
}

TEST(Token, ThatExpiredReportsSoOnlyWhereItsSignatureIsRight) {
  std::string token = sign(kHeader, expiring_at(0), kKey);
  EXPECT_EQ(verified(token), kExpired);
  token.back() = token.back() == 'A' ? 'E' : 'A';
  EXPECT_EQ(verified(token), kInvalid);
}

TEST(Token, IsNotIssuedForANameThatIsNotUtf8) {
  EXPECT_THROW((void)issue({.subject = "\xC3"}, kKey), InvalidArgument);
}

TEST(Token, IsNotIssuedWithAnExpiryBefore1970) {
  EXPECT_THROW((void)issue({.subject = "a", .expires_unix_s = -1}, kKey), InvalidArgument);
}

TEST(Token, IsNotIssuedLongerThanItMayBe) {
  EXPECT_THROW((void)issue({.subject = std::string(8000, 'a')}, kKey), InvalidArgument);
}

TEST(Scopes, GrantWhatTheyNameAndNoMore) {
  const Claims control{.subject = "a", .scopes = {TokenScope::gpu_control}};
  EXPECT_TRUE(grants(control, TokenScope::gpu_control));
  EXPECT_FALSE(grants(control, TokenScope::gpu_read));
  EXPECT_FALSE(grants(control, TokenScope::cpu_read));
  EXPECT_FALSE(grants({}, TokenScope::gpu_read));
}

TEST(Scopes, AreFoundByTheNameTheyHave) {
  for (const TokenScope scope :
       {TokenScope::gpu_control, TokenScope::gpu_read, TokenScope::cpu_read}) {
    EXPECT_EQ(parse_scope(name_of(scope)), scope);
  }
  EXPECT_EQ(parse_scope(""), std::nullopt);
}

TEST(Token, ForAnAudienceIsTakenByItAlone) {
  const auto taken_as = [](std::string_view audience, std::string_view claim) {
    return verify(sign(kHeader, with_claim(claim), kKey), kKey, kNow, audience);
  };
  const Result taken = Claims{.subject = "a", .audience = "node1"};
  EXPECT_EQ(taken_as("node1", R"("aud":"node1")"), taken);
  EXPECT_EQ(taken_as("node1", R"("aud":["x","node1"])"), taken);
  EXPECT_EQ(taken_as("node1", R"("x":1)"), Result(Claims{.subject = "a"}));
  for (const char* const claim :
       {R"("aud":"node")", R"("aud":"node11")", R"("aud":[])", R"("aud":null)",
        R"("aud":{"node1":1})", R"("aud":[["node1"]])"}) {
    EXPECT_EQ(taken_as("node1", claim), kInvalid) << claim;
  }
  EXPECT_EQ(taken_as("", R"("aud":"")"), kInvalid);
}

TEST(Token, IsIssuedForAnAudience) {
  const Claims claims{.subject = "a", .scopes = {}, .expires_unix_s = {}, .audience = "node1"};
  EXPECT_EQ(verify(issue(claims, kKey), kKey, kNow, "node1"), Result(claims));
  EXPECT_EQ(verify(issue(claims, kKey), kKey, kNow, "node2"), kInvalid);
}

}  // namespace
}  // namespace wattle::daemon
