// Requests that are no good ones, and clients that misbehave.

#include "daemon.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class DaemonRequests : public DaemonTest {
 protected:
  /// What the daemon says to these bytes, which ends the connection.
  [[nodiscard]] std::string said_to(std::string_view bytes) const {
    HttpClient client = tcp_client();
    client.send(bytes);
    return client.read_to_end();
  }
  void expect_refused(std::string_view bytes, int status) const {
    EXPECT_THAT(said_to(bytes), StartsWith("HTTP/1.1 " + std::to_string(status) + " "))
        << testing::PrintToString(bytes);
  }
};

TEST_F(DaemonRequests, ThatAreMalformedAreRefused) {
  serve();
  expect_refused("GET\r\n\r\n", 400);
  expect_refused("GET /time\r\n\r\n", 400);
  expect_refused("GET  /time HTTP/1.1\r\nHost: localhost\r\n\r\n", 400);
  expect_refused("GET /time HTTP/1.1\nHost: localhost\n\n", 400);
  expect_refused("G(T /time HTTP/1.1\r\nHost: localhost\r\n\r\n", 400);
  expect_refused("GET /time HTTP/1.1\r\nHost localhost\r\n\r\n", 400);
  expect_refused("GET /time HTTP/1.1\r\nHost : localhost\r\n\r\n", 400);
  expect_refused("GET /time HTTP/1.1\r\nX: \x01\r\nHost: localhost\r\n\r\n", 400);
  expect_refused(std::string_view("\0\0\0\0\r\n\r\n", 8), 400);
  expect_refused("GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", 400);
  expect_refused("GET http://localhost/time HTTP/1.1\r\nHost: localhost\r\n\r\n", 400);
  EXPECT_EQ(get("/time").status, 200);
}

TEST_F(DaemonRequests, ThatCouldMeanTwoThingsAreRefused) {
  serve();
  expect_refused("GET /time HTTP/1.1\r\n\r\n", 400);
  expect_refused("GET /time HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400);
  expect_refused(
      "GET /time HTTP/1.1\r\nHost: localhost\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n", 400);
}

TEST_F(DaemonRequests, OfAnotherVersionAreRefused) {
  serve();
  expect_refused("GET /time HTTP/2.0\r\nHost: localhost\r\n\r\n", 505);
  expect_refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505);
}

TEST_F(DaemonRequests, ThatAreTooLargeAreRefused) {
  serve();
  const std::string begin = "GET /time HTTP/1.1\r\nHost: localhost\r\n";
  expect_refused(begin + "X: " + std::string(9000, 'x') + "\r\n\r\n", 431);
  expect_refused(begin + "X: " + std::string(20000, 'x'), 431);
  std::string many = begin;
  for (int i = 0; i < 80; ++i) many += "X: y\r\n";
  expect_refused(many + "\r\n", 431);
}

TEST_F(DaemonRequests, ForTheHeadAloneAreAnsweredAsOthersWithoutTheBody) {
  serve();
  for (const char* const target : {"/discover", "/gpu/get_power", "/metrics"}) {
    HttpClient client = this->client();
    const HttpAnswer head = client.ask("HEAD", target);
    EXPECT_EQ(head.status, 200) << target;
    EXPECT_EQ(head.body, "");
    EXPECT_THAT(head.head, HasSubstr("Content-Length: "));
    // The next answer begins where the body is not.
    EXPECT_EQ(client.get("/time").status, 200);
  }
  HttpClient client = this->client();
  EXPECT_THAT(client.ask("HEAD", "/gpu/stream_power").head, HasSubstr("text/event-stream"));
  EXPECT_EQ(client.get("/time").status, 200);
  EXPECT_EQ(client.ask("HEAD", "/no/such/thing").status, 404);
  EXPECT_EQ(client.ask("HEAD", "/gpu/set_power_limit").status, 404);
}

TEST_F(DaemonRequests, OfPagesOfOtherSitesAreRefusedWhereTheBrowserSaysSo) {
  serve();
  EXPECT_EQ(get_tcp("/time", "Sec-Fetch-Site: cross-site\r\n").status, 403);
  EXPECT_EQ(get_tcp("/time", "Sec-Fetch-Site: same-origin\r\n").status, 200);
  expect_refused("GET /time HTTP/1.1\r\nHost: [::1]x.evil\r\n\r\n", 421);
}

TEST_F(DaemonRequests, WithABodyAreRefused) {
  serve();
  expect_refused("POST /time HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello", 413);
  expect_refused(
      "POST /time HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 413);
}

TEST_F(DaemonRequests, OfPagesOfOtherSitesAreRefused) {
  serve();
  expect_refused("GET /discover HTTP/1.1\r\nHost: evil.example:4938\r\n\r\n", 421);
  expect_refused("GET /discover HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n", 421);
  expect_refused("GET /discover HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n",
                 403);
  expect_refused("GET /discover HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\r\n", 403);
  for (const char* const host : {"localhost", "LOCALHOST:1", "127.0.0.1:4938", "[::1]:4938"}) {
    HttpClient client = tcp_client();
    client.send(std::string("GET /time HTTP/1.1\r\nHost: ") + host + "\r\nOrigin: http://" + host +
                "\r\n\r\n");
    EXPECT_EQ(client.read_answer().status, 200) << host;
  }
}

TEST_F(DaemonRequests, OfPagesOfOtherSitesReadNothingInAnyCombination) {
  serve();
  int combinations = 0;
  const auto expect = [&](const std::string& host, bool is_ours, const std::string& origin,
                          bool is_own) {
    for (const char* const target : {"/gpu/get_power", "/discover"}) {
      ++combinations;
      HttpClient client = tcp_client();
      client.send("GET " + std::string(target) + " HTTP/1.1\r\nHost: " + host + "\r\n" + origin +
                  "\r\n");
      const HttpAnswer answer = client.read_answer();
      EXPECT_EQ(answer.status, !is_ours ? 421 : is_own ? 200 : 403) << host << ' ' << origin;
      EXPECT_EQ(answer.body.find("gpu") != std::string::npos ||
                    answer.body.find("power") != std::string::npos,
                is_ours && is_own)
          << answer.body;
      EXPECT_EQ(answer.head.find("Access-Control"), std::string::npos);
    }
  };
  const auto expect_for = [&](const std::string& host, bool is_ours) {
    expect(host, is_ours, "", true);
    for (const char* const scheme : {"http://", "https://"}) {
      expect(host, is_ours, "Origin: " + (scheme + host) + "\r\n", true);
    }
    for (const std::string& origin :
         {std::string("null"), std::string("http://evil.example"), std::string("file://"),
          "https://" + host + ".evil.example", "http://" + host + "/", "http://evil@" + host,
          "ftp://" + host, "HTTP://" + host}) {
      expect(host, is_ours, "Origin: " + origin + "\r\n", false);
    }
  };
  for (const char* const host : {"localhost", "LocalHost", "localhost:4938", "127.0.0.1",
                                 "127.0.0.1:80", "127.9.9.9", "[::1]", "[::1]:4938"}) {
    expect_for(host, true);
  }
  for (const char* const host :
       {"evil.example", "evil.example:4938", "localhost.evil.example", "127.0.0.1.evil.example",
        "127.0.0.1@evil.example", "evil.example?localhost", "0.0.0.0", "10.0.0.1", "127.1",
        "2130706433", "0x7f.0.0.1", "[::2]", "[::ffff:10.0.0.1]", "localhost.", "local host"}) {
    expect_for(host, false);
  }
  EXPECT_GE(combinations, 400);
}

/// A parameter of a route, and what is no value of it.
struct QueryParameter {
  const char* method;
  const char* path;
  const char* others;  ///< "name=value&" of those that the route needs beside it
  const char* name;
  Words bad;
};

TEST_F(DaemonRequests, WithAValueThatDoesNotParseAreRefusedInOneSentence) {
  serve({"--history", "60", "--enable", "gpu-read,cpu-read,gpu-control", "--keep-settings",
         "--settings-journal", path("settings").string()});
  const Words numbers = {"", "abc", "-1", "nan", "0x10", "1e99", "1+1", "%zz"};
  Words whole = numbers;
  whole.insert(whole.end(), {"1.5", "99999999999999999999"});
  const Words ids = {"", "abc", "-1", "0,,1", "0;1", "99"};
  const Words booleans = {"", "1", "True", "no"};
  const Words names = {"", std::string(2000, 'x')};
  const std::vector<QueryParameter> parameters = {
      {"GET", "/metrics", "", "max_age", whole},
      {"GET", "/api/v1/energy", "from=1&to=2&", "max_age", whole},
      {"GET", "/api/v1/energy", "to=2000000000&", "from", numbers},
      {"GET", "/api/v1/energy", "from=1&", "to", numbers},
      {"GET", "/api/v1/power", "to=2000000000&", "from", numbers},
      {"GET", "/api/v1/power", "from=1&", "to", numbers},
      {"GET", "/api/v1/power", "from=1&to=2000000000&", "columns", whole},
      {"GET", "/gpu/get_power", "", "gpu_ids", ids},
      {"GET", "/gpu/stream_power", "", "gpu_ids", ids},
      {"GET", "/gpu/stream_power", "", "hold_ms", whole},
      {"GET", "/gpu/get_cumulative_energy", "", "gpu_ids", ids},
      {"GET", "/gpu/get_power_limit", "", "gpu_ids", ids},
      {"GET", "/gpu/get_power_limit_constraints", "", "gpu_ids", ids},
      {"GET", "/gpu/get_persistence_mode", "", "gpu_ids", ids},
      {"GET", "/cpu/get_cumulative_energy", "cpu=true&dram=true&", "cpu_ids", ids},
      {"GET", "/cpu/get_cumulative_energy", "dram=true&", "cpu", booleans},
      {"GET", "/cpu/get_cumulative_energy", "cpu=true&", "dram", booleans},
      {"GET", "/cpu/get_power", "", "cpu_ids", ids},
      {"GET", "/cpu/stream_power", "", "cpu_ids", ids},
      {"GET", "/cpu/stream_power", "", "hold_ms", whole},
      {"POST", "/gpu/set_power_limit", "power_limit_mw=250000&block=true&", "gpu_ids", ids},
      {"POST", "/gpu/set_power_limit", "power_limit_mw=250000&gpu_ids=0&", "block", booleans},
      {"POST", "/gpu/set_power_limit", "gpu_ids=0&block=true&", "power_limit_mw", whole},
      {"POST", "/gpu/set_persistence_mode", "gpu_ids=0&block=true&", "enabled", booleans},
      {"POST", "/gpu/set_gpu_locked_clocks", "gpu_ids=0&block=true&max_clock_mhz=900&",
       "min_clock_mhz", whole},
      {"POST", "/gpu/set_mem_locked_clocks", "gpu_ids=0&block=true&min_clock_mhz=900&",
       "max_clock_mhz", whole},
      {"POST", "/api/v1/units/start", "", "tag", names},
      {"POST", "/api/v1/units/start", "tag=a&", "id", names},
      {"POST", "/api/v1/units/start", "tag=a&", "weight", numbers},
      {"POST", "/api/v1/units/start", "tag=a&", "timeout_s", numbers},
      {"POST", "/api/v1/units/end", "tag=a&id=b&", "work", numbers},
      {"POST", "/api/v1/units/end", "id=b&", "tag", names},
      {"POST", "/api/v1/units/end", "tag=a&", "id", names}};
  for (const QueryParameter& one : parameters) {
    for (const std::string& value : one.bad) {
      const std::string target = std::string(one.path) + "?" + one.others + one.name + "=" + value;
      HttpClient client = this->client();
      const HttpAnswer answer = client.ask(one.method, target);
      EXPECT_EQ(answer.status, 400) << target << '\n' << answer.body;
      EXPECT_LT(answer.body.size(), 250U) << answer.body;
      EXPECT_EQ(answer.body.find('\n'), std::string::npos) << answer.body;
      EXPECT_NE(answer.body, "") << target;
    }
  }
  EXPECT_EQ(get("/metrics?max_age=2&other=abc").status, 200) << "a scraper's own parameters";
}

TEST_F(DaemonRequests, ThatComeTogetherAreAnsweredInOrder) {
  serve();
  HttpClient client = this->client();
  const std::string time = "GET /time HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string power = "GET /gpu/get_power HTTP/1.1\r\nHost: localhost\r\n\r\n";
  client.send(time + power + time + "\r\n" + power);
  for (const char* const part : {"timestamp_ms\":", "power_mw", "timestamp_ms\":", "power_mw"}) {
    const HttpAnswer answer = client.read_answer();
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.body, HasSubstr(part));
  }
}

TEST_F(DaemonRequests, ThatComeByteByByteAreAnswered) {
  serve();
  HttpClient client = tcp_client();
  for (const char byte : std::string("GET /time HTTP/1.1\r\nHost: localhost\r\n\r\n")) {
    client.send({&byte, 1});
  }
  EXPECT_EQ(client.read_answer().status, 200);
}

TEST_F(DaemonRequests, OfHalfClosedClientsAreAnswered) {
  serve();
  HttpClient client = this->client();
  client.send("GET /gpu/get_power HTTP/1.1\r\nHost: localhost\r\n\r\n");
  client.finish_sending();
  EXPECT_EQ(client.read_answer().status, 200);
  EXPECT_EQ(client.read_to_end(), "");
}

TEST_F(DaemonRequests, ThatAskForTheEndGetIt) {
  serve();
  const std::string said =
      said_to("GET /time HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(said, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_THAT(said_to("GET /time HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(DaemonRequests, ThatNeverEndAreGivenUp) {
  serve();
  const auto begin = std::chrono::steady_clock::now();
  expect_refused("GET /time HTTP/1.1\r\nHost: local", 408);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(DaemonRequests, ThatHangInGreatNumbersKeepNobodyOut) {
  serve({"--max-connections", "64"});
  std::vector<HttpClient> slow;
  for (int i = 0; i < 300; ++i) {
    slow.push_back(i % 2 == 0 ? client() : tcp_client());
    slow.back().send("GET /time HTTP/1.1\r\nHost: ");
    if (i % 50 != 0) continue;
    EXPECT_EQ(get("/time").status, 200);
  }
  EXPECT_EQ(get_tcp("/time").status, 200);
}

TEST_F(DaemonRequests, BeyondWhatIsServedAtATimeLearnIt) {
  // Half of them may be of one user.
  serve({"--max-connections", "8"});
  std::vector<HttpClient> busy;
  for (int i = 0; i < 4; ++i) {
    busy.push_back(client());
    busy.back().send("GET /gpu/stream_power HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_THAT(busy.back().read_head(), HasSubstr("200 OK"));
  }
  HttpClient client = this->client();
  client.send("GET /time HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(client.read_to_end(), StartsWith("HTTP/1.1 429 "));
  EXPECT_EQ(get("/health").status, 200);
  busy.clear();
  EXPECT_TRUE(eventually([&] { return get("/time").status == 200; }));
}

}  // namespace
}  // namespace wattle::integration
