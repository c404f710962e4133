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
