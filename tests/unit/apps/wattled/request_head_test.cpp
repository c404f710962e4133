#include "http/request_head.hpp"

#include <gtest/gtest.h>

namespace wattle::daemon {
namespace {

RequestHead head_of(std::string_view text) {
  const auto parsed = parse_head(text);
  EXPECT_TRUE(std::holds_alternative<RequestHead>(parsed)) << text;
  const auto* const head = std::get_if<RequestHead>(&parsed);
  return head != nullptr ? *head : RequestHead{};
}

std::optional<HeadFault> fault_of(std::string_view text) {
  const auto parsed = parse_head(text);
  const auto* const fault = std::get_if<HeadFault>(&parsed);
  return fault != nullptr ? std::optional(*fault) : std::nullopt;
}

TEST(HeadLength, IsThatOfTheFirstHead) {
  EXPECT_EQ(head_length("GET / HTTP/1.1\r\n"), std::nullopt);
  EXPECT_EQ(head_length("GET / HTTP/1.1\r\n\r\nGET"), 18U);
  EXPECT_EQ(head_length("\r\n\r\n"), 4U);
}

TEST(HeadLength, EndsALineWithoutACarriageReturnToo) { EXPECT_EQ(head_length("GET\n\nx"), 5U); }

TEST(RequestHead, HasWhatTheServerLooksAt) {
  const RequestHead head = head_of(
      "GET /gpu/get_power?gpu_ids=0 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\n"
      "ORIGIN: http://a\r\nAccept: text/plain\r\n\r\n");
  EXPECT_EQ(head.method, "GET");
  EXPECT_EQ(head.target, "/gpu/get_power?gpu_ids=0");
  EXPECT_EQ(head.host, "localhost");
  EXPECT_EQ(head.authorization, "Bearer x");
  EXPECT_EQ(head.origin, "http://a");
  EXPECT_EQ(head.accept, "text/plain");
  EXPECT_TRUE(head.keeps_alive);
  EXPECT_FALSE(head.has_body);
  EXPECT_FALSE(head.is_http_1_0);
}

TEST(RequestHead, KnowsWhetherTheConnectionIsKept) {
  EXPECT_FALSE(head_of("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").keeps_alive);
  EXPECT_FALSE(head_of("GET / HTTP/1.0\r\n\r\n").keeps_alive);
  EXPECT_TRUE(head_of("GET / HTTP/1.0\r\n\r\n").is_http_1_0);
}

TEST(RequestHead, KnowsWhetherABodyFollows) {
  EXPECT_FALSE(head_of("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n").has_body);
  EXPECT_TRUE(head_of("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\n").has_body);
  EXPECT_TRUE(head_of("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n").has_body);
}

TEST(RequestHead, IsMalformedWhereItCouldMeanTwoThings) {
  for (const char* const text :
       {"GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nOrigin: a\r\nOrigin: b\r\n\r\n"}) {
    EXPECT_EQ(fault_of(text), HeadFault::malformed) << text;
  }
}

TEST(RequestHead, OfAnotherVersionIsSaidSo) {
  EXPECT_EQ(fault_of("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), HeadFault::unknown_version);
  EXPECT_EQ(fault_of("GET / HTTP/0.9\r\nHost: a\r\n\r\n"), HeadFault::unknown_version);
}

TEST(RequestHead, IsLimitedInBytesAndFields) {
  std::string text = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (std::size_t i = 1; i < kMostFields; ++i) text += "X: y\r\n";
  EXPECT_EQ(fault_of(text + "\r\n"), std::nullopt);
  EXPECT_EQ(fault_of(text + "X: y\r\n\r\n"), HeadFault::too_large);
  EXPECT_EQ(fault_of("GET /" + std::string(kMostHeadBytes, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n"),
            HeadFault::too_large);
}

}  // namespace
}  // namespace wattle::daemon
