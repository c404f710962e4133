// Clients that encrypt, and misbehave.
#include <sys/stat.h>

#include <csignal>
#include <string>

#include "certificate.hpp"
#include "daemon.hpp"
#include "sanitized.hpp"
#include "tls_client.hpp"

namespace wattle::integration {
namespace {

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

}  // namespace
}  // namespace wattle::integration
