#include "client/transport/curl_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "fakes/http_server.hpp"
#include "fakes/temp_folder.hpp"
#include "unit/power/heard_log.hpp"

namespace wattle::client {
namespace {

using fakes::HttpPeer;
using fakes::HttpRequest;
using fakes::HttpServer;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::size_t append(const char* bytes, std::size_t, std::size_t count, void* to) {
  static_cast<std::string*>(to)->append(bytes, count);
  return count;
}

struct Outcome {
  CURLcode code = CURLE_OK;
  long status = 0;
  std::string body;
  std::string failure;
};

/// One GET.
Outcome get(const Server& server, std::string_view target = "/discover") {
  const Easy easy = make_easy();
  const Lines lines = lines_for(server);
  set_up(easy.get(), server, target, lines.get(), seconds(5), seconds(5));
  Outcome outcome;
  set_option(easy.get(), CURLOPT_WRITEFUNCTION, &append);
  set_option(easy.get(), CURLOPT_WRITEDATA, &outcome.body);
  outcome.code = ::curl_easy_perform(easy.get());
  ::curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &outcome.status);
  if (outcome.code != CURLE_OK) {
    outcome.failure = failure_text(easy.get(), outcome.code, FailureText{}, server);
  }
  return outcome;
}

void say_hello(const HttpRequest& /*request*/, HttpPeer& peer) {
  peer.send(fakes::http_answer(200, "hello"));
}

TEST(CurlRequest, AsksAPortForItsTarget) {
  const HttpServer server(say_hello);
  EXPECT_EQ(get(Server::parse(server.address()), "/gpu/get_power?gpu_ids=0%2C1").body, "hello");
  ASSERT_THAT(server.requests(), SizeIs(1));
  const HttpRequest request = server.requests()[0];
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.target, "/gpu/get_power?gpu_ids=0%2C1");
  EXPECT_EQ(request.field("Host"), server.address());
  EXPECT_THAT(request.head, Not(HasSubstr("Authorization")));
  EXPECT_THAT(request.head, Not(HasSubstr("Accept-Encoding")));
}

TEST(CurlRequest, ThatIsNotAnsweredToItsEndFailsInPlainWords) {
  const HttpServer server([](const HttpRequest& /*request*/, HttpPeer& peer) {
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhel");
    peer.close();
  });
  EXPECT_EQ(get(Server::parse(server.address())).failure, "the daemon closed the connection");
}

TEST(CurlRequest, ThatIsNotAnsweredFailsWithARemedy) {
  const HttpServer server([](const HttpRequest& /*request*/, HttpPeer& peer) { peer.close(); });
  EXPECT_EQ(get(Server::parse(server.address())).failure,
            "the daemon closed the connection without an answer; if the daemon uses TLS, write "
            "https://" +
                server.address());
}

TEST(CurlRequest, WithTlsThatIsAnsweredWithoutFailsWithARemedy) {
  const HttpServer server(say_hello);
  const Outcome outcome = get(Server::parse("https://" + server.address()));
  EXPECT_THAT(outcome.failure, HasSubstr("write http://" + server.address()));
}

TEST(CurlRequest, AsksASocketInTheNameOfLocalhost) {
  const fakes::TempFolder folder;
  const std::string path = folder.path() / "d.sock";
  const HttpServer server(say_hello, path);
  EXPECT_EQ(get(Server::unix_socket(path)).body, "hello");
  EXPECT_EQ(server.requests().at(0).field("Host"), "localhost");
}

TEST(CurlRequest, CarriesTheToken) {
  const HttpServer server(say_hello);
  Server asked = Server::parse(server.address());
  asked.token = "aaa.bbb-_.ccc";
  EXPECT_EQ(get(asked).status, 200);
  EXPECT_EQ(server.requests().at(0).field("Authorization"), "Bearer aaa.bbb-_.ccc");
}

std::vector<std::string> messages_of_token_for(const std::string& name) {
  const power_test::HeardLog log;
  Server server = Server::parse(name);
  server.token = "secret-token";
  (void)lines_for(server);
  return log.messages();
}

TEST(CurlRequest, WarnsOfATokenThatGoesUnencryptedToAnotherMachine) {
  for (const char* name : {"node1", "http://node1:4938", "10.0.0.1:80", "[2001:db8::1]:80"}) {
    EXPECT_THAT(messages_of_token_for(name),
                ElementsAre(AllOf(HasSubstr("sent unencrypted"), Not(HasSubstr("secret")))))
        << name;
  }
}

TEST(CurlRequest, WarnsOfNoTokenThatIsEncryptedOrStaysHere) {
  for (const char* name : {"https://node1", "localhost:4938", "127.0.0.2:80", "[::1]:80",
                           "/run/wattled/wattled.sock"}) {
    EXPECT_THAT(messages_of_token_for(name), IsEmpty()) << name;
  }
}

TEST(CurlRequest, RefusesATokenThatWouldBeginAnotherLineAndDoesNotShowIt) {
  for (const std::string& bad :
       {std::string("secret\r\nX-Admin: 1"), std::string("secret\n"), std::string("sec ret"),
        std::string("secret\t"), std::string("secr\0et", 7), std::string("secr\xC3\xA9t"),
        std::string("secret\x7F")}) {
    Server server = Server::tcp("127.0.0.1", 9);
    server.token = bad;
    try {
      (void)lines_for(server);
      ADD_FAILURE() << testing::PrintToString(bad);
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), Not(HasSubstr("secr")));
      EXPECT_THAT(error.what(), HasSubstr("127.0.0.1:9"));
    }
  }
}

TEST(CurlRequest, TakesNoProxyFromTheEnvironment) {
  const HttpServer proxy(say_hello);
  const HttpServer server(say_hello);
  const std::string url = "http://" + proxy.address();
  for (const char* name : {"http_proxy", "ALL_PROXY", "all_proxy"}) {
    ::setenv(name, url.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  EXPECT_EQ(get(Server::parse(server.address())).status, 200);
  for (const char* name : {"http_proxy", "ALL_PROXY", "all_proxy"}) {
    ::unsetenv(name);  // NOLINT(concurrency-mt-unsafe)
  }
  EXPECT_THAT(proxy.requests(), SizeIs(0));
  EXPECT_THAT(server.requests(), SizeIs(1));
}

/// Sets the proxy variables during the test.
class ProxyInEnvironment : public testing::Test {
 protected:
  ProxyInEnvironment() { set("http_proxy", ("http://" + proxy_.address()).c_str()); }
  ~ProxyInEnvironment() override {
    for (const char* const name : {"http_proxy", "no_proxy"}) {
      ::unsetenv(name);  // NOLINT(concurrency-mt-unsafe)
    }
  }
  static void set(const char* name, const char* value) {
    ::setenv(name, value, 1);  // NOLINT(concurrency-mt-unsafe)
  }
  const HttpServer proxy_{say_hello};
};

TEST_F(ProxyInEnvironment, IsAskedForAServerThatIsToBeAskedThroughOne) {
  EXPECT_EQ(get(Server::tcp("node7.invalid", 4938, {.proxy = true})).body, "hello");
  ASSERT_THAT(proxy_.requests(), SizeIs(1));
  EXPECT_EQ(proxy_.requests()[0].target, "http://node7.invalid:4938/discover");
}

TEST_F(ProxyInEnvironment, IsNotAskedForAHostThatItIsNotFor) {
  const HttpServer server(say_hello);
  Server asked = Server::parse(server.address());
  asked.uses_proxy = true;
  set("no_proxy", "127.0.0.1");
  EXPECT_EQ(get(asked).status, 200);
  EXPECT_THAT(proxy_.requests(), IsEmpty());
  EXPECT_THAT(server.requests(), SizeIs(1));
}

TEST_F(ProxyInEnvironment, IsNotAskedForAUnixSocket) {
  const fakes::TempFolder folder;
  const std::string path = folder.path() / "d.sock";
  const HttpServer server(say_hello, path);
  EXPECT_EQ(get(Server::unix_socket(path, {.proxy = true})).body, "hello");
  EXPECT_THAT(proxy_.requests(), IsEmpty());
}

TEST_F(ProxyInEnvironment, MakesATokenLeaveThisMachine) {
  const power_test::HeardLog log;
  (void)lines_for(Server::tcp("127.0.0.1", 80, {.token = "secret", .proxy = true}));
  EXPECT_THAT(log.messages(), ElementsAre(HasSubstr("sent unencrypted")));
}

TEST(CurlRequest, FollowsNoRedirect) {
  const HttpServer other(say_hello);
  const HttpServer server([&](const HttpRequest&, HttpPeer& peer) {
    peer.send(fakes::http_answer(302, "", "Location: http://" + other.address() + "/\r\n"));
  });
  EXPECT_EQ(get(Server::parse(server.address())).status, 302);
  EXPECT_THAT(other.requests(), SizeIs(0));
}

}  // namespace
}  // namespace wattle::client
