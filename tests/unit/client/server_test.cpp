#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "fakes/http_server.hpp"
#include "unit/report/golden.hpp"
#include "wattle/daemon_client.hpp"

namespace wattle {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Optional;
using Transport = Server::Transport;

/// An environment without servers, for the test's time.
class ServerFromEnv : public testing::Test {
 protected:
  ServerFromEnv() { clear(); }
  ~ServerFromEnv() override { clear(); }
  static void clear() {
    for (const char* name : {"ZEUSD_SOCK_PATH", "ZEUSD_HOST_PORT", "ZEUSD_TOKEN"}) {
      ::unsetenv(name);  // NOLINT(concurrency-mt-unsafe)
    }
  }
  static void set(const char* name, const char* value) {
    ::setenv(name, value, 1);  // NOLINT(concurrency-mt-unsafe)
  }
};

TEST(Server, ATcpServerIsNamedByHostAndPort) {
  EXPECT_EQ(Server::tcp("node7").endpoint, "node7:4938");
  EXPECT_EQ(Server::tcp("10.0.0.7", 80).endpoint, "10.0.0.7:80");
  EXPECT_EQ(Server::tcp("node7").transport, Transport::http);
  EXPECT_EQ(Server::tls("node7", 443).endpoint, "node7:443");
  EXPECT_EQ(Server::tls("node7").transport, Transport::https);
}

TEST(Server, AnIpv6AddressMayStandInBracketsOrNot) {
  EXPECT_EQ(Server::tcp("::1").endpoint, "[::1]:4938");
  EXPECT_EQ(Server::tcp("[::1]", 1).endpoint, "[::1]:1");
  EXPECT_EQ(Server::tcp("fe80::1%eth0", 1).endpoint, "[fe80::1%eth0]:1");
}

TEST(Server, WhatCouldChangeAUrlIsNoHost) {
  const std::string long_name(254, 'a');
  for (const std::string& host :
       {std::string(), std::string("a b"), std::string("a/b"), std::string("user@host"),
        std::string("a?b"), std::string("a#b"), std::string("a\r\nHost: b"), std::string("[a]"),
        std::string("["), std::string("::1/x"), std::string("h\0st", 4), std::string("hóst"),
        long_name}) {
    EXPECT_THROW((void)Server::tcp(host), InvalidArgument) << host;
  }
  EXPECT_THROW((void)Server::tcp("node7", 0), InvalidArgument);
}

TEST(Server, ASocketIsNamedByItsPath) {
  EXPECT_EQ(Server::unix_socket("/run/x.sock").endpoint, "/run/x.sock");
  EXPECT_EQ(Server::unix_socket("x.sock").transport, Transport::unix_socket);
  EXPECT_EQ(Server::unix_socket(std::string(107, 'p')).endpoint.size(), 107U);
  EXPECT_THROW((void)Server::unix_socket(std::string(108, 'p')), InvalidArgument);
  EXPECT_THROW((void)Server::unix_socket(""), InvalidArgument);
  EXPECT_THROW((void)Server::unix_socket(std::string_view("/run\0/x", 7)), InvalidArgument);
}

TEST(Server, IsParsedFromEachForm) {
  const struct {
    const char* text;
    Transport transport;
    const char* endpoint;
  } forms[] = {
      {"node7", Transport::http, "node7:4938"},
      {"node7:80", Transport::http, "node7:80"},
      {"http://node7:80", Transport::http, "node7:80"},
      {"http://node7:80/", Transport::http, "node7:80"},
      {"http://node7", Transport::http, "node7:80"},
      {"https://node7:4938", Transport::https, "node7:4938"},
      {"https://node7", Transport::https, "node7:443"},
      {"[::1]:80", Transport::http, "[::1]:80"},
      {"::1", Transport::http, "[::1]:4938"},
      {"[::1]", Transport::http, "[::1]:4938"},
      {"unix:/run/x.sock", Transport::unix_socket, "/run/x.sock"},
      {"/run/x.sock", Transport::unix_socket, "/run/x.sock"},
  };
  for (const auto& form : forms) {
    const Server server = Server::parse(form.text);
    EXPECT_EQ(server.transport, form.transport) << form.text;
    EXPECT_EQ(server.endpoint, form.endpoint) << form.text;
    EXPECT_EQ(server.token, "");
  }
}

TEST(Server, WhatHasNoFormIsRefusedWithTheForms) {
  for (const char* text :
       {"", ":", "node7:", ":80", "node7:0", "node7:65536", "node7:x", "ftp://node7", "http://",
        "http://node7/metrics", "unix:", "https://user:secret@node7", "node7:80:80", "[::1]x:80"}) {
    try {
      (void)Server::parse(text);
      ADD_FAILURE() << text;
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), HasSubstr("unix:/path")) << text;
    }
  }
}

TEST(Server, OfAnotherSchemeIsRefusedForThat) {
  try {
    (void)Server::parse("ftp://node7");
    ADD_FAILURE();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("its scheme is neither http nor https; "));
  }
}

TEST(Server, IsAskedAsItsOptionsSay) {
  const ServerOptions options{
      .token = "a.b.c", .gpus = {{0, 2}}, .cpus = std::vector<std::uint32_t>(), .proxy = true};
  for (const Server& server :
       {Server::tcp("node7", 80, options), Server::tls("node7", 443, options),
        Server::unix_socket("/run/x.sock", options)}) {
    EXPECT_EQ(server.token, "a.b.c");
    EXPECT_THAT(server.gpu_indices, Optional(ElementsAre(0, 2)));
    EXPECT_THAT(server.cpu_indices, Optional(IsEmpty()));
    EXPECT_TRUE(server.uses_proxy);
  }
  const Server plain = Server::tcp("node7", 80);
  EXPECT_EQ(plain.token, "");
  EXPECT_FALSE(plain.gpu_indices);
  EXPECT_FALSE(plain.uses_proxy);
}

TEST(Server, OptionsThatCannotBeAreRefusedWhenItIsMade) {
  try {
    (void)Server::tcp("node7", 4938, {.token = "secret\r\nX-Admin: 1"});
    FAIL() << "taken";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("node7:4938"), Not(HasSubstr("secret"))));
  }
  EXPECT_THROW((void)Server::tls("node7", 4938, {.gpus = {{1, 2, 1}}}), InvalidArgument);
  EXPECT_THROW((void)Server::unix_socket("/run/x.sock", {.cpus = {{0, 0}}}), InvalidArgument);
}

TEST_F(ServerFromEnv, SaysWhatToSetWhereNothingIs) {
  for (const char* const value : {"", "unset"}) {
    if (*value == '\0') {
      set("ZEUSD_SOCK_PATH", value);
      set("ZEUSD_HOST_PORT", value);
    } else {
      clear();
    }
    try {
      (void)Server::from_env();
      ADD_FAILURE() << "there is none";
    } catch (const ConnectionError& error) {
      testing_support::expect_golden("no_daemon_in_environment.txt",
                                     std::string(error.what()) + "\n");
    }
  }
}

TEST_F(ServerFromEnv, HasAnotherInItsPlaceWhereNothingIsSet) {
  const Server otherwise = Server::unix_socket("/run/other.sock");
  EXPECT_EQ(Server::from_env_or(otherwise).endpoint, "/run/other.sock");
  set("ZEUSD_HOST_PORT", "node7:4938");
  EXPECT_EQ(Server::from_env_or(otherwise).endpoint, "node7:4938");
}

TEST_F(ServerFromEnv, ASocketGoesBeforeAPort) {
  set("ZEUSD_SOCK_PATH", "/run/z.sock");
  set("ZEUSD_HOST_PORT", "node7:1");
  set("ZEUSD_TOKEN", "abc");
  const Server server = Server::from_env();
  EXPECT_EQ(server.endpoint, "/run/z.sock");
  EXPECT_EQ(server.transport, Transport::unix_socket);
  EXPECT_EQ(server.token, "abc");
}

TEST_F(ServerFromEnv, AHostWithoutAPortIsAtPort80) {
  set("ZEUSD_HOST_PORT", "node7");
  EXPECT_EQ(Server::from_env().endpoint, "node7:80");
  set("ZEUSD_HOST_PORT", "node7:4938");
  EXPECT_EQ(Server::from_env().endpoint, "node7:4938");
  EXPECT_EQ(Server::from_env().token, "");
}

TEST_F(ServerFromEnv, WhatIsNoServerIsRefused) {
  set("ZEUSD_HOST_PORT", "a b");
  EXPECT_THROW((void)Server::from_env(), InvalidArgument);
}

TEST_F(ServerFromEnv, IsWhomAClientAsksWithoutAnotherServer) {
  EXPECT_THROW(DaemonClient(), ConnectionError);
  const fakes::HttpServer daemon([](const fakes::HttpRequest&, fakes::HttpPeer& peer) {
    peer.send(fakes::http_answer(200, R"({"gpus":[],"cpus":[],"enabled_api_groups":[]})"));
  });
  set("ZEUSD_HOST_PORT", daemon.address().c_str());
  EXPECT_EQ(DaemonClient().server().endpoint, daemon.address());
}

}  // namespace
}  // namespace wattle
