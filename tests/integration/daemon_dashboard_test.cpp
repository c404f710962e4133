// The page for browsers, as the daemon serves it. What it does in a browser:
// web/test/dashboard.mjs.
#include <openssl/evp.h>

#include <array>
#include <string>

#include "daemon.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kBrowser = "Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n";

/// As a Content-Security-Policy names it.
std::string hash_of(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EXPECT_EQ(EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr), 1);
  constexpr std::size_t kMostBase64 = 2UL * EVP_MAX_MD_SIZE;
  std::array<unsigned char, kMostBase64> base64{};
  const int length = EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(size));
  return "'sha256-" + std::string(base64.begin(), base64.begin() + length) + "'";
}

std::string between(const std::string& text, std::string_view first, std::string_view last) {
  const std::size_t begin = text.find(first) + first.size();
  return text.substr(begin, text.find(last, begin) - begin);
}

/// The value of a field; empty: the head does not have it.
std::string field_of(const HttpAnswer& answer, const std::string& name) {
  const std::size_t begin = answer.head.find("\r\n" + name + ": ");
  if (begin == std::string::npos) return {};
  return between(answer.head.substr(begin), ": ", "\r\n");
}

class DaemonDashboard : public DaemonTest {
 protected:
  /// `HttpClient::ask` has an Accept of its own.
  [[nodiscard]] static HttpAnswer ask(HttpClient& asked, const std::string& method,
                                      const std::string& headers = kBrowser) {
    asked.send(method + " / HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
    return asked.read_answer(method != "HEAD");
  }
  [[nodiscard]] HttpAnswer page(const std::string& headers = kBrowser) const {
    HttpClient asked = tcp_client();
    return ask(asked, "GET", headers);
  }
};

TEST_F(DaemonDashboard, IsThePageForABrowser) {
  serve({"--enable", "dashboard"});
  const HttpAnswer answer = page();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(field_of(answer, "Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(field_of(answer, "Cache-Control"), "no-store");
  EXPECT_EQ(field_of(answer, "X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(field_of(answer, "Referrer-Policy"), "no-referrer");
  EXPECT_EQ(field_of(answer, "Content-Length"), std::to_string(answer.body.size()));
  EXPECT_THAT(answer.body, StartsWith("<!doctype html>"));
}

TEST_F(DaemonDashboard, PermitsItsOwnStyleAndScriptAlone) {
  serve({"--enable", "dashboard"});
  const HttpAnswer answer = page();
  EXPECT_EQ(field_of(answer, "Content-Security-Policy"),
            "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
            "connect-src 'self'; img-src data:; style-src " +
                hash_of(between(answer.body, "<style>", "</style>")) + "; script-src " +
                hash_of(between(answer.body, "<script>", "</script>")));
}

TEST_F(DaemonDashboard, IsSmall) {
  serve({"--enable", "dashboard"});
  constexpr std::size_t kMostBytes = 120UL * 1024UL;
  const HttpAnswer answer = page();
  EXPECT_THAT(answer.body, StartsWith("<!doctype html>"));
  EXPECT_LT(answer.body.size(), kMostBytes) << "even without gzip";
}

TEST_F(DaemonDashboard, IsNotThereUnlessItIsEnabled) {
  serve();
  const HttpAnswer answer = page();
  EXPECT_EQ(field_of(answer, "Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(field_of(answer, "Content-Security-Policy"), "");
  EXPECT_THAT(answer.body, Not(HasSubstr("<")));
}

TEST_F(DaemonDashboard, LeavesTheListOfPathsToOtherPrograms) {
  serve({"--enable", "dashboard"});
  const HttpAnswer answer = page("Accept: */*\r\n");
  EXPECT_THAT(answer.body, StartsWith("wattled\n"));
  EXPECT_EQ(field_of(answer, "Content-Security-Policy"), "");
}

TEST_F(DaemonDashboard, HasAHead) {
  serve({"--enable", "dashboard"});
  const std::string whole = page().head;
  HttpClient asked = tcp_client();
  EXPECT_EQ(ask(asked, "HEAD").head, whole);
  EXPECT_EQ(asked.get("/time").status, 200) << "no body came after the head";
}

TEST_F(DaemonDashboard, TakesNoOtherMethod) {
  serve({"--enable", "dashboard"});
  for (const char* const method : {"POST", "PUT", "DELETE", "OPTIONS"}) {
    HttpClient asked = tcp_client();
    EXPECT_EQ(ask(asked, method, std::string(kBrowser) + "Content-Length: 0\r\n").status, 404)
        << method;
  }
}

TEST_F(DaemonDashboard, AloneServesWhatIsServedByDefault) {
  serve({"--enable", "dashboard"});
  EXPECT_EQ(get("/gpu/get_power").status, 200);
  EXPECT_EQ(get("/cpu/get_cumulative_energy?cpu=true&dram=true").status, 200);
  EXPECT_EQ(get("/gpu/set_power_limit?gpu_ids=0&power_limit_mw=1&block=true").status, 404);
}

TEST_F(DaemonDashboard, ShowsNoMoreThanTheOtherGroupsDo) {
  serve({"--enable", "cpu-read,dashboard"});
  EXPECT_EQ(page().status, 200);
  EXPECT_EQ(get("/gpu/get_power").status, 404);
}

TEST_F(DaemonDashboard, NeedsNoTokenButWhatItShowsDoes) {
  const std::string key = key_file("wattled-dashboard-signing-key-00001");
  serve({"--enable", "dashboard", "--signing-key-path", key});
  EXPECT_EQ(page().status, 200);
  for (const char* const path : {"/metrics", "/api/v1/sensors", "/cpu/stream_power",
                                 "/gpu/stream_power", "/api/v1/power?from=1&to=2"}) {
    EXPECT_EQ(get_tcp(path).status, 401) << path;
  }
}

TEST_F(DaemonDashboard, IsRefusedToPagesOfOtherSites) {
  serve({"--enable", "dashboard"});
  EXPECT_EQ(page(std::string(kBrowser) + "Sec-Fetch-Site: cross-site\r\n").status, 403);
  EXPECT_EQ(page(std::string(kBrowser) + "Sec-Fetch-Site: same-origin\r\n").status, 200);
}

TEST_F(DaemonDashboard, MayAskTheMachinesThatItFollowsAndNobodyElse) {
  serve({"--enable", "dashboard", "--dashboard-machines", "node1,http://node2:5000"});
  const HttpAnswer answer = page();
  EXPECT_THAT(field_of(answer, "Content-Security-Policy"),
              HasSubstr("; connect-src 'self' https://node1:4938 http://node2:5000; img-src"));
  EXPECT_EQ(between(answer.body, R"(<meta name="machines" content=")", "\""),
            " https://node1:4938 http://node2:5000");
  HttpClient asked = tcp_client();
  asked.send(std::string("GET /?machines=evil HTTP/1.1\r\nHost: localhost\r\n") + kBrowser +
             "\r\n");
  EXPECT_THAT(asked.read_answer().head, Not(HasSubstr("evil"))) << "its user may not add machines";
}

TEST_F(DaemonDashboard, FollowsMachinesThatItsUserEntersIfThatIsPermitted) {
  serve({"--enable", "dashboard", "--dashboard-machines", "any,node1"});
  const auto entered = [&](const std::string& text) {
    HttpClient asked = tcp_client();
    asked.send("GET /?machines=" + text + " HTTP/1.1\r\nHost: localhost\r\n" + kBrowser + "\r\n");
    return asked.read_answer();
  };
  const HttpAnswer answer = entered("node2,node1");
  EXPECT_EQ(between(answer.body, R"(<meta name="machines" content=")", "\""),
            "any https://node1:4938 https://node2:4938");
  EXPECT_THAT(field_of(answer, "Content-Security-Policy"),
              HasSubstr("; connect-src 'self' https://node1:4938 https://node2:4938; img-src"));
  for (const char* const hostile :
       {"a;script-src%20*", "a%22%3E%3Cscript%3E", "a%0d%0aX:%20y", "*"}) {
    EXPECT_EQ(entered(hostile).status, 400) << hostile;
  }
}

TEST_F(DaemonDashboard, OfAnotherMachineReadsOnlyIfItIsAllowed) {
  serve({"--enable", "dashboard", "--allow-dashboards", "head"});
  const std::string head = "Sec-Fetch-Site: cross-site\r\nOrigin: https://head:4938\r\n";
  const HttpAnswer read = get_tcp("/discover", head);
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(field_of(read, "Access-Control-Allow-Origin"), "https://head:4938");
  EXPECT_EQ(get_tcp("/discover", "Origin: https://other:4938\r\n").status, 403);
  EXPECT_EQ(field_of(get_tcp("/discover"), "Access-Control-Allow-Origin"), "");
  HttpClient asked = tcp_client();
  asked.send("OPTIONS /metrics HTTP/1.1\r\nHost: localhost\r\n" + head +
             "Access-Control-Request-Method: GET\r\n\r\n");
  const HttpAnswer preflight = asked.read_answer();
  EXPECT_EQ(preflight.status, 200);
  EXPECT_EQ(field_of(preflight, "Access-Control-Allow-Headers"), "Authorization");
  EXPECT_EQ(asked.get("/time").status, 200) << "the connection goes on";
  HttpClient changes = tcp_client();
  changes.send("POST /api/v1/units/start?tag=a HTTP/1.1\r\nHost: localhost\r\n" + head + "\r\n");
  EXPECT_EQ(changes.read_answer().status, 403);
}

TEST_F(DaemonDashboard, OfAnotherMachineNeedsATokenAsEverybodyDoes) {
  const std::string key = key_file("wattled-dashboard-signing-key-00001");
  serve({"--enable", "dashboard", "--allow-dashboards", "head", "--signing-key-path", key});
  const std::string head = "Origin: https://head:4938\r\n";
  const HttpAnswer refused = get_tcp("/metrics", head);
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(field_of(refused, "Access-Control-Allow-Origin"), "https://head:4938")
      << "the page can read that it needs one";
  const std::string bearer = "Authorization: Bearer " + token("a", "cpu-read,gpu-read") + "\r\n";
  EXPECT_EQ(get_tcp("/metrics", head + bearer).status, 200);
}

TEST_F(DaemonDashboard, MayTakeTheMetricsOfAnotherPage) {
  serve({"--enable", "dashboard"});
  const std::string first = get_tcp("/metrics?max_age=60").body;
  EXPECT_THAT(first, HasSubstr("process_cpu_seconds_total"));
  EXPECT_EQ(get_tcp("/metrics?max_age=60").body, first);
  const std::string fresh = get_tcp("/metrics").body;
  EXPECT_NE(fresh, first) << "who does not ask for it gets a new one";
  EXPECT_EQ(get_tcp("/metrics?max_age=60").body, fresh);
  EXPECT_NE(get("/metrics?max_age=60").body, fresh) << "the Unix socket shows more";
}

TEST_F(DaemonDashboard, IsNotServedToOtherMachinesWithoutEncryption) {
  const std::string key = key_file("wattled-dashboard-signing-key-00001");
  const Outcome outcome =
      run(wattled({"serve", "--enable", "dashboard", "--mode", "tcp", "--tcp-bind-address",
                   "0.0.0.0:0", "--signing-key-path", key}));
  EXPECT_EQ(outcome.code(), 1);
  EXPECT_THAT(log(), HasSubstr("will not serve other machines"));
  EXPECT_THAT(log(), HasSubstr("without encryption, which shows tokens to anyone on the network"));
}

TEST_F(DaemonDashboard, NamesItsMachineToThoseWhoMayRead) {
  const std::string key = key_file("wattled-dashboard-signing-key-00001");
  serve({"--enable", "dashboard", "--signing-key-path", key});
  EXPECT_EQ(get("/health").body, R"({"status":"ok"})");
  const std::string bearer = "Authorization: Bearer " + token("a", "cpu-read") + "\r\n";
  EXPECT_TRUE(parse_json(get("/health", bearer).body)["host"].is_string());
}

}  // namespace
}  // namespace wattle::integration
