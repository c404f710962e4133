#include "http/response.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wattle::daemon {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Response, HasItsStatusLengthAndType) {
  EXPECT_THAT(render({.body = "{}"}, true),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("Content-Length: 2\r\n"),
                    HasSubstr("Content-Type: application/json\r\n"), EndsWith("\r\n\r\n{}")));
  EXPECT_THAT(render({.status = 404}, true),
              AllOf(StartsWith("HTTP/1.1 404 Not Found\r\n"), HasSubstr("Content-Length: 0\r\n"),
                    Not(HasSubstr("\r\nContent-Type"))));
}

// Powers of now are no use later, and what a client sent may stand in an answer: a browser must not
// take it for a page.
TEST(Response, IsNotStoredAndNotTakenForAnotherType) {
  for (const unsigned status : {200U, 401U, 404U, 500U}) {
    EXPECT_THAT(render({.status = status, .body = "{}"}, true),
                AllOf(HasSubstr("\r\nCache-Control: no-store\r\n"),
                      HasSubstr("\r\nX-Content-Type-Options: nosniff\r\n")))
        << status;
  }
  EXPECT_THAT(stream_head(), AllOf(HasSubstr("\r\nCache-Control: no-cache\r\n"),
                                   HasSubstr("\r\nX-Content-Type-Options: nosniff\r\n")));
}

TEST(Response, IsReadableForTheOneOriginThatMayReadIt) {
  const auto names_reader =
      HasSubstr("\r\nAccess-Control-Allow-Origin: https://head:4938\r\nVary: Origin\r\n");
  EXPECT_THAT(render({.status = 401, .body = "{}"}, true, "https://head:4938"), names_reader);
  EXPECT_THAT(stream_head("https://head:4938"), AllOf(names_reader, EndsWith("\r\n\r\n")));
  EXPECT_THAT(render({.body = "{}"}, true), Not(HasSubstr("Access-Control")));
  EXPECT_THAT(stream_head(), Not(HasSubstr("Access-Control")));
}

TEST(Response, ToAPreflightPermitsReadingWithAToken) {
  EXPECT_THAT(render({.is_preflight = true}, true, "https://head:4938"),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"),
                    HasSubstr("\r\nAccess-Control-Allow-Methods: GET\r\n"),
                    HasSubstr("\r\nAccess-Control-Allow-Headers: Authorization\r\n"),
                    Not(HasSubstr("Access-Control-Allow-Credentials"))));
}

TEST(Response, SaysWhenTheConnectionIsClosed) {
  EXPECT_THAT(render({}, false), HasSubstr("\r\nConnection: close\r\n\r\n"));
  EXPECT_THAT(render({}, true), Not(HasSubstr("Connection")));
}

TEST(Response, HasAChallengeWhereATokenIsNeeded) {
  EXPECT_THAT(render({.status = 401, .challenge = "Bearer"}, true),
              HasSubstr("\r\nWWW-Authenticate: Bearer\r\n"));
}

TEST(Response, SaysThatARefusalForWantOfRoomMayBeTriedAgain) {
  for (const unsigned status : {429U, 503U}) {
    EXPECT_THAT(render(error_response(status, "busy"), true), HasSubstr("\r\nRetry-After: 1\r\n"));
  }
  for (const unsigned status : {200U, 400U, 403U, 404U, 500U}) {
    EXPECT_THAT(render(error_response(status, "no"), true), Not(HasSubstr("Retry-After")));
  }
}

}  // namespace
}  // namespace wattle::daemon
