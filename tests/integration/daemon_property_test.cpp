// Requests that nobody would send, of a grammar and then mutated: whatever comes, the answers are
// whole, nobody without a token reads anything, and the daemon goes on.
#include <sys/stat.h>

#include <array>
#include <csignal>
#include <random>
#include <set>
#include <string>

#include "certificate.hpp"
#include "daemon.hpp"
#include "jwt.hpp"
#include "sanitized.hpp"
#include "tls_client.hpp"

namespace wattle::integration {
namespace {

using testing::StartsWith;

constexpr std::string_view kKey = "daemon-property-test-signing-key-of-40-byte";

/// Requests, always the same ones for a seed.
class Grammar {
 public:
  Grammar(unsigned seed, std::string token) : random_(seed), token_(std::move(token)) {}

  /// One to three requests, then mutated or not.
  [[nodiscard]] std::string requests() {
    std::string text;
    for (std::size_t i = 0, all = 1 + below(3); i < all; ++i) text += request();
    for (std::size_t i = 0, all = below(3) == 0 ? 1 + below(4) : 0; i < all; ++i) mutate(text);
    return text;
  }
  void mutate(std::string& text) {
    if (text.empty()) return;
    const std::size_t place = below(text.size());
    const std::size_t length = std::min<std::size_t>(below(20), text.size() - place);
    switch (below(6)) {
      case 0:
        text[place] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(place, length);
        break;
      case 2:
        text.insert(place, text.substr(place, length));
        break;
      case 3:
        text.insert(place, below(200), static_cast<char>(below(256)));
        break;
      case 4:
        text.resize(place);
        break;
      default:
        std::swap(text[place], text[below(text.size())]);
    }
  }
  [[nodiscard]] std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
  }

 private:
  template <std::size_t kCount>
  [[nodiscard]] std::string one_of(const std::array<const char*, kCount>& words) {
    return words.at(below(kCount));
  }
  [[nodiscard]] std::string request() {
    static constexpr std::array kMethods = {"GET", "GET", "GET", "HEAD", "POST",
                                            "PUT", "get", "G T", ""};
    static constexpr std::array kVersions = {"HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0",
                                             "HTTP/2.0", "HTTP/1.",  "http/1.1", ""};
    static constexpr std::array kEnds = {"\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r"};
    const std::string end = one_of(kEnds);
    std::string text = one_of(kMethods) + " " + target() + " " + one_of(kVersions) + end;
    if (below(8) != 0) text += "Host: " + host() + end;
    for (std::size_t i = 0, all = below(5); i < all; ++i) text += field() + end;
    text += end;
    if (below(10) == 0) text += std::string(below(100), 'b');
    return text;
  }
  [[nodiscard]] std::string target() {
    static constexpr std::array kPaths = {"/discover",
                                          "/time",
                                          "/health",
                                          "/auth/whoami",
                                          "/metrics",
                                          "/api/v1/sensors",
                                          "/api/v1/energy",
                                          "/gpu/get_power",
                                          "/gpu/stream_power",
                                          "/gpu/get_cumulative_energy",
                                          "/gpu/get_power_limit",
                                          "/gpu/set_power_limit",
                                          "/cpu/get_cumulative_energy",
                                          "/cpu/stream_power",
                                          "*",
                                          "http://localhost/time",
                                          ""};
    static constexpr std::array kQueries = {"",
                                            "",
                                            "",
                                            "?",
                                            "?gpu_ids=0",
                                            "?gpu_ids=0,1,1",
                                            "?gpu_ids=99999999999999999999",
                                            "?cpu=true&dram=true",
                                            "?cpu=true&cpu=false&dram=x",
                                            "?from=1&to=2",
                                            "?from=-1e999&to=nan",
                                            "?gpu_ids=%30%2c%31",
                                            "?%zz",
                                            "?a=b&&=&;",
                                            "#x"};
    std::string path = one_of(kPaths);
    static constexpr std::array kInsertions = {"/", "/./", "/../", "%2f", "%2e", "%00",
                                               ";", "%",   "\\",   "//",  "\t",  "\xc3\xa9"};
    if (below(3) == 0) path.insert(below(path.size() + 1), one_of(kInsertions));
    return path + one_of(kQueries);
  }
  [[nodiscard]] std::string host() {
    static constexpr std::array kHosts = {
        "localhost", "localhost", "127.0.0.1:1", "[::1]", "[::1]x.evil",
        "evil",      "",          "localhost:x", "a b",   "::1"};
    return one_of(kHosts);
  }
  [[nodiscard]] std::string field() {
    static constexpr std::array kFields = {"Connection: close",
                                           "Connection: keep-alive",
                                           "Connection: upgrade, close",
                                           "Content-Length: 0",
                                           "Content-Length: 5",
                                           "Content-Length: -1",
                                           "Content-Length: 0x10",
                                           "Transfer-Encoding: chunked",
                                           "Transfer-Encoding: identity",
                                           "Authorization: Bearer ",
                                           "Authorization: Basic eDp5",
                                           "authorization: bearer x",
                                           "Origin: http://localhost",
                                           "Origin: null",
                                           "Sec-Fetch-Site: cross-site",
                                           "Host: localhost",
                                           "Accept: */*",
                                           " folded: yes",
                                           ": no name",
                                           "No colon",
                                           "X: \x01",
                                           "Expect: 100-continue",
                                           "Upgrade: h2c"};
    switch (below(8)) {
      case 0:
        return "Authorization: Bearer " + token_;
      case 1:
        return "X: " + std::string(below(9000), 'x');
      default:
        return one_of(kFields);
    }
  }

  std::mt19937 random_;
  std::string token_;
};

/// The answers in what a connection said; a failure of the test where it is anything else.
std::vector<std::string> answers_in(std::string said) {
  static const std::set<std::string> kStatuses = {"200", "400", "401", "403", "404", "408",
                                                  "413", "421", "429", "431", "503", "505"};
  std::vector<std::string> answers;
  while (!said.empty()) {
    const std::size_t head = said.find("\r\n\r\n");
    EXPECT_THAT(said, StartsWith("HTTP/1.1 "));
    if (!said.starts_with("HTTP/1.1 ") || head == std::string::npos) {
      ADD_FAILURE() << testing::PrintToString(said);
      break;
    }
    EXPECT_TRUE(kStatuses.contains(said.substr(9, 3))) << said;
    answers.push_back(said.substr(0, head + 4));
    said.erase(0, head + 4);
    // The next answer begins after the body, or here where the head alone was asked for. A stream
    // has no end.
    if (answers.back().find("text/event-stream") != std::string::npos &&
        !said.starts_with("HTTP")) {
      answers.back() += said;
      break;
    }
    const std::size_t next = std::min(said.find("HTTP/1.1 "), said.size());
    answers.back() += said.substr(0, next);
    said.erase(0, next);
  }
  return answers;
}

/// A body has the length that its head gives, or there is none.
void expect_whole(const std::string& answer) {
  constexpr std::string_view kLength = "Content-Length: ";
  const std::size_t place = answer.find(kLength);
  if (place == std::string::npos) return;
  const std::size_t length = std::stoul(answer.substr(place + kLength.size()));
  const std::size_t body = answer.size() - answer.find("\r\n\r\n") - 4;
  EXPECT_TRUE(body == length || body == 0) << answer;
}

class DaemonProperty : public DaemonTest {
 protected:
  void expect_sound(const std::string& sent, const std::string& said) {
    for (const std::string& answer : answers_in(said)) {
      expect_whole(answer);
      statuses_.insert(answer.substr(9, 3));
      if (sent.find(token_) != std::string::npos) continue;
      for (const char* const secret : {"power_mw", "energy_mj", "energy_uj", "wattle_energy",
                                       "\"channels\"", "NVIDIA", "package"}) {
        EXPECT_EQ(answer.find(secret), std::string::npos) << testing::PrintToString(sent) << answer;
      }
    }
  }
  void end_well() {
    EXPECT_EQ(get("/time").status, 200);
    // The grammar reaches what it is meant to.
    for (const char* const status : {"200", "400", "401", "404", "413", "421", "505"}) {
      EXPECT_TRUE(statuses_.contains(status)) << status;
    }
    daemon_->send(SIGTERM);
    EXPECT_EQ(daemon_->wait().code(), 0);
    EXPECT_EQ(log().find("Sanitizer"), std::string::npos) << log();
  }

  std::set<std::string> statuses_;
  const std::string token_ = jwt(kHs256, R"({"sub":"a","scopes":["gpu-read","cpu-read"]})", kKey);
};

TEST_F(DaemonProperty, HoldsForRequestsOfAGrammarAndTheirMutations) {
  serve({"--signing-key-path", key_file(kKey), "--max-failures-per-client", "1000000"});
  Grammar grammar(1, token_);
  const int all = kSanitized ? 2000 : 10'000;
  for (int i = 0; i < all && !HasFailure(); ++i) {
    const std::string sent = grammar.requests();
    HttpClient each = i % 2 == 0 ? client() : tcp_client();
    const std::size_t cut = grammar.below(sent.size() + 1);
    each.send(sent.substr(0, cut));
    each.send(sent.substr(cut));
    each.finish_sending();
    expect_sound(sent, each.read_to_end());
  }
  end_well();
}

TEST_F(DaemonProperty, HoldsWhereTheyAreEncryptedAndWhereTheRecordsAreMutated) {
  write_certificate(path("cert.pem"), path("key.pem"), "IP:127.0.0.1");
  ::chmod(path("key.pem").c_str(), 0600);
  serve({"--signing-key-path", key_file(kKey), "--tls-cert", path("cert.pem"), "--tls-key",
         path("key.pem")});
  Grammar grammar(2, token_);
  const int all = kSanitized ? 200 : 600;
  for (int i = 0; i < all && !HasFailure(); ++i) {
    const std::string sent = grammar.requests();
    TlsClient each(port_);
    if (sent.empty() || grammar.below(10) == 0) {
      std::string hello = each.first_bytes();
      grammar.mutate(hello);
      each.send_raw(hello);
    } else {
      ASSERT_TRUE(each.shake_hands());
      std::string records = each.sealed(sent);
      if (grammar.below(3) == 0) grammar.mutate(records);
      each.send_raw(records);
    }
    each.finish_sending();
    expect_sound(sent, each.read_to_end());
  }
  end_well();
}

}  // namespace
}  // namespace wattle::integration
