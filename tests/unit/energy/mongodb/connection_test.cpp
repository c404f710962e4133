#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "base/files/fd.hpp"
#include "unit/energy/mongodb/mongo_test.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing_mongo::Thrown;
using testing_mongo::thrown_by;
using Cause = DatabaseError::Cause;
using ConnectionTest = testing_mongo::MongoTest;

TEST_F(ConnectionTest, ReportsThatAUriCannotBeUnderstood) {
  for (const std::string uri :
       {"", "localhost", "http://localhost", "mongodb://", "mongodb://a:b"}) {
    MongoOptions bad = options();
    bad.uri = uri;
    const Thrown thrown = thrown_by([&] { MongoHandler{bad}; });
    EXPECT_EQ(thrown.cause, Cause::bad_uri) << uri;
    EXPECT_THAT(thrown.message, HasSubstr("example: mongodb://localhost:27017")) << uri;
  }
}

TEST_F(ConnectionTest, SendsLibmongocsWarningsToTheLog) {
  MongoOptions odd = options();
  odd.uri += "/?noSuchOption=1";
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  MongoHandler{odd};
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(messages_, ElementsAre(HasSubstr("libmongoc: ")));
}

/// A loopback port without a listener, while this lives.
class SilentPort {
 public:
  SilentPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);  // as sockets are used in C
    EXPECT_EQ(::bind(socket_.get(), generic, size), 0);
    EXPECT_EQ(::getsockname(socket_.get(), generic, &size), 0);
    port_ = ::ntohs(address.sin_port);
  }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  Fd socket_;
  std::uint16_t port_ = 0;
};

TEST_F(ConnectionTest, ReportsThatNoServerAnswersAndKeepsThePasswordToItself) {
  const SilentPort silent;
  const std::string host = "127.0.0.1:" + std::to_string(silent.port());
  MongoOptions unreachable = options();
  unreachable.uri = "mongodb://user:secret@" + host;
  unreachable.connect_timeout = std::chrono::milliseconds(100);
  const Thrown thrown = thrown_by([&] { MongoHandler{unreachable}; });
  EXPECT_EQ(thrown.cause, Cause::unreachable);
  EXPECT_THAT(thrown.message, HasSubstr("no MongoDB server answers at " + host));
  EXPECT_THAT(thrown.message, Not(HasSubstr("secret")));
}

TEST_F(ConnectionTest, ReportsThatTheServerRefusesTheUser) {
  MongoOptions refused = options();
  refused.uri = "mongodb://user:secret@127.0.0.1:" + std::to_string(server_.port()) +
                "/?authMechanism=SCRAM-SHA-256";
  const Thrown thrown = thrown_by([&] { MongoHandler{refused}; });
  EXPECT_EQ(thrown.cause, Cause::server);
  EXPECT_THAT(thrown.message, HasSubstr("Authentication failed"));
  EXPECT_THAT(thrown.message, Not(HasSubstr("secret")));
}

/// The last part of the name is one that no name server may know (RFC 6761).
TEST_F(ConnectionTest, ReportsThatTheNameOfAClusterCannotBeLookedUp) {
  ::setenv("RES_OPTIONS", "timeout:1 attempts:1", 1);  // where no name server answers
  MongoOptions unknown = options();
  unknown.uri = "mongodb+srv://user:secret@db.nosuch.invalid/";
  const Thrown thrown = thrown_by([&] { MongoHandler{unknown}; });
  EXPECT_EQ(thrown.cause, Cause::unreachable);
  EXPECT_THAT(thrown.message, HasSubstr("no MongoDB server answers at db.nosuch.invalid: "));
  EXPECT_THAT(thrown.message, Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace wattle
