// Who may ask for what, where a key is in use.
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <fstream>

#include "daemon.hpp"
#include "jwt.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;

constexpr const char* kAuthKey = "0123456789abcdef0123456789abcdef\n";
constexpr const char* kAlice =
    "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9."
    "eyJzdWIiOiJhbGljZSIsInNjb3BlcyI6WyJncHUtcmVhZCIsImNwdS1yZWFkIl0sImV4cCI6OTk5OTk5OTk5OX0."
    "pp07SnjKC1y1s7CBO7T3oqdju642fzgmT1uiDZZTw9I";
constexpr const char* kBob =
    "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJib2IiLCJzY29wZXMiOlsiZ3B1LWNvbnRyb2wiXX0."
    "4uCcD8f-VAIQ37vsEPXBYUfAUyUOhkQOUGTSjZdsQy0";

class DaemonAuth : public DaemonTest {
 protected:
  void serve_with_key(const Words& options = {}) {
    serve(Words{"--signing-key-path", key_file(kAuthKey)} + options);
  }
  [[nodiscard]] HttpAnswer ask(std::string_view target, std::string_view bearer = {}) const {
    if (bearer.empty()) return get(target);
    return get(target, "Authorization: Bearer " + std::string(bearer) + "\r\n");
  }
  [[nodiscard]] static std::string stream_request(const std::string& bearer) {
    return "GET /gpu/stream_power?gpu_ids=1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
           bearer + "\r\n\r\n";
  }
  /// A client that has heard the first event of its stream.
  [[nodiscard]] HttpClient stream_of(const std::string& bearer) const {
    HttpClient stream = client();
    stream.send(stream_request(bearer));
    EXPECT_THAT(stream.read_head(), testing::StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(stream.next_event(), testing::StartsWith("data: "));
    return stream;
  }
};

TEST_F(DaemonAuth, TokensOfZeusdAreGoodHere) {
  play(50.0);
  serve_with_key();
  EXPECT_EQ(ask("/gpu/get_power", kAlice).status, 200);
  EXPECT_EQ(ask("/cpu/get_cumulative_energy?cpu=true&dram=true", kAlice).status, 200);
  EXPECT_EQ(ask("/auth/whoami", kAlice).body,
            R"({"sub":"alice","scopes":["gpu-read","cpu-read"],"exp":9999999999})");
  EXPECT_EQ(ask("/auth/whoami", kBob).body, R"({"sub":"bob","scopes":["gpu-control"]})");
}

TEST_F(DaemonAuth, TokensIssuedHereAreGood) {
  play(50.0);
  serve_with_key();
  const std::string mine = token("carol", "cpu-read", "never");
  EXPECT_EQ(ask("/auth/whoami", mine).body, R"({"sub":"carol","scopes":["cpu-read"]})");
  EXPECT_EQ(ask("/cpu/get_cumulative_energy?cpu=true&dram=true", mine).status, 200);
  const Json timed = parse_json(ask("/auth/whoami", token("carol", "", "1h")).body);
  EXPECT_EQ(timed["scopes"], Json::array());
  EXPECT_TRUE(timed["exp"].is_number());
}

TEST_F(DaemonAuth, AMissingTokenIsAskedFor) {
  serve_with_key();
  for (const char* const target : {"/gpu/get_power", "/cpu/stream_power", "/auth/whoami",
                                   "/api/v1/sensors", "/no/such/thing"}) {
    const HttpAnswer answer = ask(target);
    EXPECT_EQ(answer.status, 401) << target;
    EXPECT_THAT(answer.head, HasSubstr("\r\nWWW-Authenticate: Bearer realm=\"zeusd\"\r\n"));
    EXPECT_EQ(answer.body, R"({"error":"Authentication required. Provide an Authorization: )"
                           R"(Bearer <token> header."})");
  }
}

TEST_F(DaemonAuth, ABadTokenIsRefused) {
  serve_with_key();
  std::string forged = kAlice;
  forged.back() = 'J';
  EXPECT_EQ(ask("/gpu/get_power", forged).status, 401);
  EXPECT_EQ(ask("/gpu/get_power", "x").status, 401);
  EXPECT_EQ(get("/gpu/get_power", "Authorization: Basic eDp5\r\n").status, 401);
}

TEST_F(DaemonAuth, ATokenWithoutTheScopeIsNotEnough) {
  serve_with_key();
  const HttpAnswer answer = ask("/gpu/get_power", kBob);
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.body, R"({"error":"Token for user 'bob' lacks required scope 'gpu-read'. )"
                         R"(Token scopes: ['gpu-control']"})");
  EXPECT_EQ(ask("/cpu/stream_power", token("d", "gpu-read")).status, 403);
}

TEST_F(DaemonAuth, MetricsNeedTheScopesOfAllThatIsServed) {
  serve_with_key();
  EXPECT_EQ(ask("/metrics").status, 401);
  EXPECT_EQ(ask("/metrics", token("d", "gpu-read")).status, 403);
  EXPECT_EQ(ask("/metrics", kAlice).status, 200);
}

TEST_F(DaemonAuth, AGroupThatIsOffIsNotThereWhateverTheToken) {
  serve_with_key({"--enable", "cpu-read"});
  std::string forged = kAlice;
  forged.back() = 'J';
  for (const std::string& bearer : {std::string(), std::string("x"), forged, std::string(kAlice)}) {
    EXPECT_EQ(ask("/gpu/get_power", bearer).status, 404);
    EXPECT_EQ(ask("/gpu/set_power_limit", bearer).status, 404);
  }
}

TEST_F(DaemonAuth, WhatIsForEverybodyNeedsNoToken) {
  serve_with_key();
  for (const char* const target : {"/discover", "/time", "/health"}) {
    EXPECT_EQ(ask(target).status, 200) << target;
    EXPECT_EQ(ask(target, "x").status, 200) << target;
  }
  EXPECT_EQ(parse_json(ask("/discover").body)["auth_required"], true);
}

TEST_F(DaemonAuth, WhatIsNotThereIsNotFoundWithAToken) {
  serve_with_key();
  const HttpAnswer answer = ask("/gpu/no_such_thing", kAlice);
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body, R"({"error":"There is no such path on this server."})");
}

TEST_F(DaemonAuth, WhoFailsTooOftenIsAskedToStop) {
  serve_with_key();
  EXPECT_TRUE(eventually([&] { return ask("/gpu/get_power", "x").status == 429; }));
  EXPECT_EQ(ask("/gpu/get_power", kAlice).status, 200);
}

TEST_F(DaemonAuth, AStrangerLearnsWhatHeNeedsToComeBackWithAToken) {
  serve_with_key();
  for (const char* const bearer : {"", "x"}) {
    const Json found = parse_json(ask("/discover", bearer).body);
    EXPECT_EQ(found["auth_required"], true);
    EXPECT_EQ(found["enabled_api_groups"], Json({"gpu-control", "gpu-read", "cpu-read"}));
    for (const char* const key : {"gpus", "cpus", "gpu_ids", "cpu_ids", "refused"}) {
      EXPECT_EQ(found[key], Json::array()) << key;
    }
    EXPECT_EQ(keys_of(parse_json(ask("/health", bearer).body)), std::vector<std::string>{"status"});
  }
  EXPECT_EQ(parse_json(ask("/discover", kAlice).body)["gpus"].size(), 2U);
  EXPECT_EQ(parse_json(ask("/health", kAlice).body)["gpus"], 2);
}

TEST_F(DaemonAuth, AKeyThatIsExchangedEndsTheStreamsOfItsTokens) {
  serve_with_key();
  HttpClient stream = stream_of(kAlice);
  (void)key_file("another key of more than thirty-two bytes");
  daemon_->send(SIGHUP);
  (void)stream.read_to_end();
  EXPECT_EQ(ask("/gpu/get_power", kAlice).status, 401);
}

TEST_F(DaemonAuth, AKeyThatIsReadAgainAndIsTheSameEndsNoStream) {
  serve_with_key();
  HttpClient stream = stream_of(kAlice);
  daemon_->send(SIGHUP);
  EXPECT_TRUE(logs(HasSubstr("reloaded the signing key")));
  EXPECT_EQ(stream.next_chunk(), ": alive\n\n");
  EXPECT_EQ(stream.next_chunk(), ": alive\n\n");
}

TEST_F(DaemonAuth, AStreamEndsWhenItsTokenExpires) {
  serve_with_key();
  // A token is taken for 60 s after it expired.
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  HttpClient stream = stream_of(
      jwt(kHs256, R"({"sub":"a","scopes":["gpu-read"],"exp":)" + std::to_string(now - 58) + "}",
          kAuthKey));
  HttpClient other = stream_of(kAlice);
  (void)stream.read_to_end();
  EXPECT_FALSE(other.has_ended());
}

TEST_F(DaemonAuth, ARevokedTokenIsRefusedAndItsStreamsEnd) {
  std::ofstream(path("revoked")) << "# none yet\n";
  serve_with_key({"--revoked", path("revoked").string()});
  HttpClient stream = stream_of(kAlice);
  std::ofstream(path("revoked")) << kAlice << "\n";
  daemon_->send(SIGHUP);
  (void)stream.read_to_end();
  EXPECT_EQ(ask("/gpu/get_power", kAlice).status, 401);
  EXPECT_EQ(ask("/auth/whoami", kBob).status, 200);
  // What cannot be read leaves it as it was.
  std::ofstream(path("revoked")) << "nonsense\n";
  daemon_->send(SIGHUP);
  EXPECT_TRUE(logs(HasSubstr("stays as it was")));
  EXPECT_EQ(ask("/gpu/get_power", kAlice).status, 401);
}

TEST_F(DaemonAuth, ATokenForAnotherServerIsRefused) {
  serve_with_key({"--audience", "node1"});
  const auto token_for = [&](const std::string& audience) {
    return jwt(kHs256, R"({"sub":"a","scopes":["gpu-read"],"aud":")" + audience + "\"}", kAuthKey);
  };
  EXPECT_EQ(ask("/gpu/get_power", token_for("node1")).status, 200);
  EXPECT_EQ(ask("/gpu/get_power", token_for("node2")).status, 401);
  EXPECT_EQ(ask("/gpu/get_power", kAlice).status, 200);
}

TEST_F(DaemonAuth, OneTokenHasSoManyStreams) {
  serve_with_key({"--max-streams-per-token", "2"});
  std::vector<HttpClient> streams;
  for (int i = 0; i < 2; ++i) streams.push_back(stream_of(kAlice));
  EXPECT_EQ(ask("/gpu/stream_power", kAlice).status, 429);
  EXPECT_EQ(ask("/gpu/get_power", kAlice).status, 200);
  HttpClient other = stream_of(token("carol", "gpu-read"));
  streams.pop_back();
  EXPECT_TRUE(eventually([&] {
    HttpClient again = client();
    again.send(stream_request(kAlice));
    return again.read_head().starts_with("HTTP/1.1 200 ");
  }));
  EXPECT_THAT(ask("/metrics", kAlice).body,
              HasSubstr("wattle_clients_turned_away_total{reason=\"token\"} "));
}

TEST_F(DaemonAuth, WhatIsRefusedIsLoggedWithoutNamesOfTokens) {
  serve_with_key();
  EXPECT_EQ(ask("/cpu/stream_power", token("mallory", "gpu-read")).status, 403);
  EXPECT_EQ(get_tcp("/time", "Origin: http://evil.example\r\n").status, 403);
  EXPECT_EQ(client().ask("POST", "/gpu/set_power_limit").status, 404);
  EXPECT_TRUE(eventually([&] {
    const std::string said = log();
    return said.find("lacks the scope cpu-read") != std::string::npos &&
           said.find("a page of another site") != std::string::npos &&
           said.find("tried to control GPUs") != std::string::npos;
  })) << log();
  EXPECT_EQ(log().find("mallory"), std::string::npos);
}

TEST_F(DaemonAuth, ThroughTcpATokenGivesEverything) {
  serve_with_key();
  const HttpAnswer answer = get_tcp("/cpu/get_cumulative_energy?cpu=true&dram=true",
                                    "Authorization: Bearer " + std::string(kAlice) + "\r\n");
  // What the counter shows (100000 ticks of 2^-14 J), not whole joules.
  EXPECT_EQ(parse_json(answer.body)["0"]["cpu_energy_uj"], 6103515);
}

TEST_F(DaemonAuth, ASignalHasTheKeyReadAgain) {
  serve_with_key();
  EXPECT_EQ(ask("/gpu/get_power", kAlice).status, 200);
  (void)key_file("another key of more than thirty-two bytes");
  daemon_->send(SIGHUP);
  EXPECT_TRUE(eventually([&] { return ask("/gpu/get_power", kAlice).status == 401; }));
  EXPECT_EQ(ask("/gpu/get_power", token("e", "gpu-read")).status, 200);
  std::ofstream(path("key")) << "short";
  daemon_->send(SIGHUP);
  EXPECT_TRUE(logs(HasSubstr("cannot reload the signing key")));
}

class DaemonKeys : public DaemonTest {
 protected:
  void expect_refused(const Words& options, std::string_view reason) const {
    const Outcome outcome = run(wattled(Words{"serve", "--socket-path", socket()} + options));
    EXPECT_EQ(outcome.code(), 1);
    EXPECT_TRUE(logs(HasSubstr(std::string(reason))));
  }
};

TEST_F(DaemonKeys, ThatAreTooShortAreRefused) {
  expect_refused({"--signing-key-path", key_file("short")}, "32");
}

TEST_F(DaemonKeys, ThatOthersMayReadAreRefused) {
  const std::string file = key_file(kAuthKey);
  ::chmod(file.c_str(), 0644);
  expect_refused({"--signing-key-path", file}, file);
}

TEST_F(DaemonKeys, AreNeededForOtherMachines) {
  expect_refused({"--mode", "tcp", "--tcp-bind-address", "0.0.0.0:0"}, "without a key");
  expect_refused({"--mode", "tcp", "--tcp-bind-address", "0.0.0.0:0", "--signing-key-path",
                  key_file(kAuthKey)},
                 "without encryption");
}

}  // namespace
}  // namespace wattle::integration
