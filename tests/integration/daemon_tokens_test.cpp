// Tokens that are none, as a stranger sends them.
#include <chrono>

#include "daemon.hpp"
#include "jwt.hpp"

namespace wattle::integration {
namespace {

constexpr std::string_view kTokensKey = "daemon-tokens-test-signing-key-of-40-bytes";
constexpr std::string_view kClaims = R"({"sub":"alice","scopes":["gpu-read"]})";
constexpr std::string_view kNotAccepted = R"({"error":"Invalid token: it was not accepted."})";
constexpr std::string_view kExpired = R"({"error":"Token has expired."})";

std::int64_t now_unix_s() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

/// Rightly signed claims of somebody who may read GPUs, with one more.
std::string with(std::string_view claim) {
  return jwt(kHs256, R"({"sub":"alice","scopes":["gpu-read"],)" + std::string(claim) + "}",
             kTokensKey);
}

std::string with(const char* name, std::int64_t seconds_from_now) {
  return with('"' + std::string(name) + "\":" + std::to_string(now_unix_s() + seconds_from_now));
}

class DaemonTokens : public DaemonTest {
 protected:
  void SetUp() override {
    serve({"--signing-key-path", key_file(kTokensKey), "--max-failures-per-client", "1000000"});
  }

  [[nodiscard]] HttpAnswer answer_to(std::string_view token) {
    return tcp_client().get("/gpu/get_power",
                            "Authorization: Bearer " + std::string(token) + "\r\n");
  }
  void expect_refused(std::string_view token, std::string_view body = kNotAccepted) {
    const HttpAnswer answer = answer_to(token);
    EXPECT_EQ(answer.status, 401) << token;
    EXPECT_EQ(answer.body, body) << token;
    EXPECT_THAT(answer.head,
                testing::HasSubstr("\r\nWWW-Authenticate: Bearer realm=\"zeusd\"\r\n"));
  }
  void expect_taken(std::string_view token) { EXPECT_EQ(answer_to(token).status, 200) << token; }
};

TEST_F(DaemonTokens, RightlySignedAreTaken) {
  expect_taken(jwt(kHs256, kClaims, kTokensKey));
  expect_taken(jwt(R"({"alg":"HS256"})", kClaims, kTokensKey));
}

TEST_F(DaemonTokens, OfAnotherAlgorithmAreRefused) {
  const std::string none = jwt_part(R"({"alg":"none"})") + '.' + jwt_part(kClaims) + '.';
  expect_refused(none);
  expect_refused(none + jwt_part("anything"));
  for (const char* const name : {"none", "None", "NONE", "HS384", "HS512", "RS256", "ES256",
                                 "PS256", "EdDSA", "hs256", ""}) {
    const std::string header = R"({"typ":"JWT","alg":")" + std::string(name) + "\"}";
    for (const char* const hash : {"SHA256", "SHA384", "SHA512"}) {
      expect_refused(jwt(header, kClaims, kTokensKey, hash));
    }
    expect_refused(jwt_part(header) + '.' + jwt_part(kClaims) + '.' +
                   jwt_part(std::string(256, 's')));  // as long as a signature of RS256
  }
  for (const char* const hash : {"SHA384", "SHA512", "SHA1"}) {
    expect_refused(jwt(kHs256, kClaims, kTokensKey, hash));
  }
}

TEST_F(DaemonTokens, OfAnotherKeyAreRefused) {
  for (const std::string_view key :
       {std::string_view("another"), kTokensKey.substr(1),
        kTokensKey.substr(0, kTokensKey.size() - 1), std::string_view()}) {
    expect_refused(jwt(kHs256, kClaims, key));
  }
  expect_refused(jwt(kHs256, kClaims, std::string(kTokensKey) + '\n'));
}

TEST_F(DaemonTokens, WithAnyBitFlippedAreRefused) {
  const std::string good = jwt(kHs256, kClaims, kTokensKey);
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string token = good;
      token[i] = static_cast<char>(static_cast<unsigned char>(token[i]) ^ (1U << bit));
      const auto byte = static_cast<unsigned char>(token[i]);
      const bool breaks_the_request = (byte < 0x20 && byte != '\t') || byte == 0x7f;
      const int status = answer_to(token).status;
      EXPECT_EQ(status, breaks_the_request ? 400 : 401) << "bit " << bit << " of byte " << i;
    }
  }
}

TEST_F(DaemonTokens, ThatAreNoBase64urlAreRefused) {
  const std::string good = jwt(kHs256, kClaims, kTokensKey);
  const std::string message = good.substr(0, good.rfind('.'));
  for (const std::string& token :
       Words{message, message + '.', message + ".=", message + ".A", good + '=',
             good + "==", good + 'A', good + '.', '.' + good, good.substr(0, good.size() - 1),
             good + "+/", "!!!.???.***", ".", "..", "a.b.c", "\"" + good + "\""}) {
    expect_refused(token);
  }
}

TEST_F(DaemonTokens, NamingAKeyTwiceAreRefused) {
  for (const char* const claims :
       {R"({"sub":"a","sub":"b","scopes":["gpu-read"]})",
        R"({"sub":"a","scopes":["gpu-read"],"scopes":["gpu-read"]})",
        R"({"sub":"a","scopes":["gpu-read"],"exp":1,"exp":9999999999})",
        R"({"sub":"a","scopes":["gpu-read"],"ex\u0070":9999999999,"exp":1})"}) {
    expect_refused(jwt(kHs256, claims, kTokensKey));
  }
  expect_refused(jwt(R"({"alg":"none","alg":"HS256"})", kClaims, kTokensKey));
}

TEST_F(DaemonTokens, OutOfTheirTimeAreRefused) {
  expect_refused(with("exp", -61), kExpired);
  expect_refused(with(R"("exp":0)"), kExpired);
  expect_refused(with("nbf", 61 + 60));
  for (const char* const claim : {R"("exp":"9999999999")", R"("exp":1e10)", R"("exp":null)",
                                  R"("exp":99999999999999999999)"}) {
    expect_refused(with(claim));
  }
  // Clocks differ: a minute is forgiven.
  expect_taken(with("exp", 61));
  expect_taken(with("exp", -30));
  expect_taken(with("nbf", 30));
}

TEST_F(DaemonTokens, HugeOrDeepAreRefused) {
  expect_refused(with(R"("x":")" + std::string(5000, 'x') + "\",\"aud\":\"y\""));
  expect_refused(with(R"("x":)" + std::string(2500, '[') + std::string(2500, ']')));
  expect_refused(std::string(7000, 'A'));
  expect_refused(std::string(3000, '.'));
  expect_refused(jwt(std::string(5000, '{'), kClaims, kTokensKey));
  EXPECT_EQ(answer_to(std::string(8192, 'A')).status, 431);
}

}  // namespace
}  // namespace wattle::integration
