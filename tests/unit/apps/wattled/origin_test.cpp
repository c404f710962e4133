#include "http/origin.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace wattle::daemon {
namespace {

const std::vector<std::string> kThisMachine = {"localhost", "LocalHost",      "localhost:4938",
                                               "127.0.0.1", "127.0.0.1:4938", "127.9.9.9:1",
                                               "[::1]",     "[::1]:4938"};
const std::vector<std::string> kOthers = {"evil.example",
                                          "evil.example:4938",
                                          "localhost.evil.example",
                                          "127.0.0.1.evil.example",
                                          "127.0.0.1@evil.example",
                                          "evil.example#localhost",
                                          "0.0.0.0",
                                          "128.0.0.1",
                                          "10.0.0.1:4938",
                                          "127.1",
                                          "0x7f.0.0.1",
                                          "[::2]",
                                          "[::ffff:10.0.0.1]",
                                          "localhost.",
                                          "[::1]x.evil",
                                          "[::1].evil.example",
                                          "[::1]:4938.evil.example",
                                          "[::1",
                                          "[localhost]",
                                          "[127.0.0.1]",
                                          "::1",
                                          "localhost:evil.example",
                                          "127.0.0.1:4938.evil.example",
                                          "127.0.0.1:80@evil.example",
                                          ""};

/// All that a page can be from: with and without the host that it asks.
std::vector<std::optional<std::string>> origins(const std::string& host) {
  return {std::nullopt,
          "http://" + host,
          "https://" + host,
          "null",
          "",
          "http://evil.example",
          "https://" + host + ".evil.example",
          "ftp://" + host,
          "http://" + host + "/",
          host};
}

TEST(Origin, OfAPageOfAnotherSiteIsRefusedInEveryCombination) {
  int combinations = 0;
  const auto is_let_in = [&](const std::string& host, const std::optional<std::string>& origin) {
    ++combinations;
    return !refusal_of_foreign_page(
                {.method = "GET", .target = "/", .host = host, .origin = origin},
                {.is_loopback = true, .at_loopback = true})
                .has_value();
  };
  for (const std::string& host : kThisMachine) {
    for (const auto& origin : origins(host)) {
      const bool is_own = !origin || *origin == "http://" + host || *origin == "https://" + host;
      EXPECT_EQ(is_let_in(host, origin), is_own) << host << ' ' << origin.value_or("none");
    }
  }
  for (const std::string& host : kOthers) {
    for (const auto& origin : origins(host)) {
      EXPECT_FALSE(is_let_in(host, origin)) << host << ' ' << origin.value_or("none");
    }
  }
  EXPECT_GE(combinations, 200);
}

TEST(Origin, IsThatOfAnotherSiteWhereTheBrowserSaysSo) {
  const auto is_let_in = [](const std::optional<std::string>& site, const Peer& peer) {
    return !refusal_of_foreign_page(
                {.method = "GET", .target = "/", .host = "localhost", .fetch_site = site}, peer)
                .has_value();
  };
  const Peer at_port{.is_loopback = true, .at_loopback = true};
  for (const char* const site : {"cross-site", "same-site", "", "Same-Origin", "anything"}) {
    EXPECT_FALSE(is_let_in(site, at_port)) << site;
  }
  for (const char* const site : {"same-origin", "none"})
    EXPECT_TRUE(is_let_in(site, at_port)) << site;
  EXPECT_TRUE(is_let_in(std::nullopt, at_port));
  // No page opens a Unix socket.
  EXPECT_TRUE(is_let_in("cross-site", {.is_local_socket = true}));
}

TEST(Origin, OfADashboardThatIsAllowedMayReadAndChangesNothing) {
  const std::vector<std::string> readers = {"https://head:4938", "http://127.0.0.1:4938"};
  const auto is_let_in = [&](const std::string& method, const std::string& origin) {
    return !refusal_of_foreign_page({.method = method,
                                     .target = "/",
                                     .host = "node1:4938",
                                     .origin = origin,
                                     .fetch_site = "cross-site"},
                                    {}, readers)
                .has_value();
  };
  for (const std::string& reader : readers) {
    for (const char* const method : {"GET", "HEAD", "OPTIONS"}) {
      EXPECT_TRUE(is_let_in(method, reader)) << method << ' ' << reader;
    }
    for (const char* const method : {"POST", "PUT", "DELETE", "PATCH", ""}) {
      EXPECT_FALSE(is_let_in(method, reader)) << method << ' ' << reader;
    }
  }
  for (const char* const other : {"http://head:4938", "https://head", "https://head:49380", "null",
                                  "https://head:4938.evil.example", "https://HEAD:4938", ""}) {
    EXPECT_FALSE(is_let_in("GET", other)) << other;
  }
}

TEST(Origin, ThatIsAllowedIsNoNameOfThisMachine) {
  const std::vector<std::string> readers = {"https://head:4938"};
  const auto refusal = refusal_of_foreign_page(
      {.method = "GET", .target = "/", .host = "evil.example", .origin = readers.front()},
      {.is_loopback = true, .at_loopback = true}, readers);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 421U) << "DNS rebinding is refused before";
}

TEST(Origin, OfAnAddressIsAsBrowsersWriteIt) {
  EXPECT_EQ(parse_origin("node1"), "https://node1:4938");
  EXPECT_EQ(parse_origin("Node1.Example:5000"), "https://node1.example:5000");
  EXPECT_EQ(parse_origin("node1:443"), "https://node1");
  EXPECT_EQ(parse_origin("http://node1:80"), "http://node1");
  EXPECT_EQ(parse_origin("http://node1"), "http://node1:4938");
  EXPECT_EQ(parse_origin("10.0.0.7:443"), "https://10.0.0.7");
  EXPECT_EQ(parse_origin("127.0.0.1:5001"), "http://127.0.0.1:5001") << "a tunnel";
  EXPECT_EQ(parse_origin("localhost"), "http://localhost:4938");
  EXPECT_EQ(parse_origin("https://localhost"), "https://localhost:4938");
}

TEST(Origin, IsNotMadeOfTextThatIsNoAddress) {
  for (const char* const text : {"",
                                 ":",
                                 ":4938",
                                 "node1:",
                                 "node1:0",
                                 "node1:65536",
                                 "node1:x",
                                 "node1:+1",
                                 "node1/",
                                 "node1 ",
                                 "a b",
                                 "*",
                                 "*.example",
                                 "node1;script-src",
                                 "node1:1 https://evil.example",
                                 "a\"b",
                                 "a'b",
                                 "<b>",
                                 "a\r\nX: y",
                                 "ftp://node1",
                                 "https://",
                                 "user@node1",
                                 "[::1]",
                                 "[::1]:4938",
                                 "::1",
                                 "-a",
                                 ".a",
                                 "n\xc3\xb6"
                                 "de",
                                 "http://https://node1"}) {
    EXPECT_EQ(parse_origin(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_origin(std::string(254, 'a')), std::nullopt);
}

}  // namespace
}  // namespace wattle::daemon
