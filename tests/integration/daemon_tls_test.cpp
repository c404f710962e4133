// Clients that encrypt, and misbehave.
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "certificate.hpp"
#include "daemon.hpp"
#include "sanitized.hpp"
#include "tls_client.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kTime = "GET /time HTTP/1.1\r\nHost: localhost\r\n\r\n";

class DaemonTls : public DaemonTest {
 protected:
  DaemonTls() {
    write_certificate(path("cert.pem"), path("key.pem"), "IP:127.0.0.1");
    ::chmod(path("key.pem").c_str(), 0600);
  }
  void serve_tls(const Words& options = {}) {
    serve(Words{"--tls-cert", path("cert.pem"), "--tls-key", path("key.pem")} + options);
  }
  void end_well() {
    daemon_->send(SIGTERM);
    EXPECT_EQ(daemon_->wait().code(), 0) << log();
    EXPECT_EQ(log().find("Sanitizer"), std::string::npos) << log();
  }
};

TEST_F(DaemonTls, OutlivesAThousandClientsThatCloseWhileTheyAreAnswered) {
  constexpr int kRequests = 300;
  const int attacks = kSanitized ? 100 : 1000;
  serve_tls();
  for (int attack = 0; attack < attacks; ++attack) {
    TlsClient client(port_);
    ASSERT_TRUE(client.shake_hands()) << attack << log();
    std::string records;
    for (int i = 0; i < kRequests; ++i) records += client.sealed(kTime);
    client.send_raw(records);
    client.finish_sending();
  }
  EXPECT_EQ(get("/time").status, 200);
  TlsClient honest(port_);
  ASSERT_TRUE(honest.shake_hands());
  honest.send(kTime);
  EXPECT_THAT(honest.read_answer(), StartsWith("HTTP/1.1 200 "));
  end_well();
}

/// Those that the daemon has not closed.
std::size_t open_of(const std::vector<std::unique_ptr<TlsClient>>& clients) {
  return static_cast<std::size_t>(std::ranges::count_if(clients, [](const auto& client) {
    char byte = 0;
    return ::recv(client->fd(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
  }));
}

TEST_F(DaemonTls, BoundsTheMemoryOfHalfRecords) {
  constexpr std::size_t kMostHalves = 256;
  constexpr std::size_t kClients = 300;
  serve_tls();
  (void)get("/time");
  std::vector<std::unique_ptr<TlsClient>> clients;
  for (std::size_t i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<TlsClient>(port_));
    // A ClientHello of 512 bytes begins.
    clients.back()->send_raw(std::string_view("\x16\x03\x01\x02\x00\x01", 6));
  }
  EXPECT_TRUE(eventually([&] { return open_of(clients) <= kMostHalves; }));
  // Whoever came last is heard.
  TlsClient honest(port_);
  ASSERT_TRUE(honest.shake_hands());
  honest.send(kTime);
  EXPECT_THAT(honest.read_answer(), StartsWith("HTTP/1.1 200 "));
}

TEST_F(DaemonTls, CountsTheHeadOfARecordAsAHalfOne) {
  constexpr std::size_t kMostHalves = 256;
  constexpr std::size_t kClients = 300;
  serve_tls({"--max-connections-per-client", "600"});
  std::vector<std::unique_ptr<TlsClient>> clients;
  for (std::size_t i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<TlsClient>(port_));
    ASSERT_TRUE(clients.back()->shake_hands());
  }
  // A record of application data with 256 bytes begins.
  for (const auto& client : clients) client->send_raw(std::string_view("\x17\x03\x03\x01\x00", 5));
  EXPECT_TRUE(eventually([&] { return open_of(clients) <= kMostHalves; }));
  EXPECT_EQ(open_of(clients), kMostHalves) << "the others have five seconds";
}

TEST_F(DaemonTls, TakesCiphersWithForwardSecrecyAndAuthenticationAlone) {
  serve_tls();
  const auto agrees = [&](const TlsChoice& choice) {
    return TlsClient(port_, choice).shake_hands();
  };
  EXPECT_TRUE(agrees({.version = TLS1_3_VERSION}));
  EXPECT_TRUE(agrees({.version = TLS1_2_VERSION, .ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256"}));
  EXPECT_TRUE(agrees({.version = TLS1_2_VERSION, .ciphers = "ECDHE-ECDSA-CHACHA20-POLY1305"}));
  for (const char* const cipher : {"ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES256-SHA",
                                   "AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-CCM"}) {
    EXPECT_FALSE(agrees({.version = TLS1_2_VERSION, .ciphers = cipher})) << cipher;
  }
}

TEST_F(DaemonTls, RefusesAKeyThatOthersMayRead) {
  ::chmod(path("key.pem").c_str(), 0644);
  const Outcome outcome =
      run(wattled({"serve", "--socket-path", socket(), "--tls-cert", path("cert.pem").string(),
                   "--tls-key", path("key.pem").string()}));
  EXPECT_EQ(outcome.code(), 1);
  EXPECT_TRUE(logs(HasSubstr("other users have access to it")));
}

TEST_F(DaemonTls, AsksForCertificatesOfClientsIfAsked) {
  write_certificate(path("client.pem"), path("client-key.pem"), "DNS:client");
  write_certificate(path("stranger.pem"), path("stranger-key.pem"), "DNS:stranger");
  serve_tls({"--tls-client-ca", path("client.pem").string()});
  const auto answered = [&](const TlsChoice& choice) {
    TlsClient client(port_, choice);
    if (!client.shake_hands()) return false;
    client.send(kTime);
    return client.read_answer().starts_with("HTTP/1.1 200 ");
  };
  EXPECT_TRUE(answered({.certificate = path("client.pem"), .key = path("client-key.pem")}));
  EXPECT_FALSE(answered({}));
  EXPECT_FALSE(answered({.certificate = path("stranger.pem"), .key = path("stranger-key.pem")}));
  EXPECT_EQ(get("/time").status, 200);
}

}  // namespace
}  // namespace wattle::integration
