// The client and a daemon that encrypts, with a certificate that no authority of the system signed.
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <string>

#include "certificate.hpp"
#include "daemon.hpp"
#include "wattle/daemon_client.hpp"
#include "wattle/power_stream.hpp"

namespace wattle::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ClientOverTls : public DaemonTest {
 protected:
  ClientOverTls() {
    write_certificate(path("cert.pem"), path("key.pem"), "IP:127.0.0.1");
    ::chmod(path("key.pem").c_str(), 0600);
  }
  void serve_tls(const Words& options = {}) {
    serve(Words{"--tls-cert", path("cert.pem"), "--tls-key", path("key.pem")} + options);
  }
  [[nodiscard]] Server at_port(const std::string& authorities,
                               const std::string& host = "127.0.0.1") const {
    Server server = Server::tls(host, port_);
    server.ca_file = authorities.empty() ? "" : path(authorities).string();
    return server;
  }
  /// Neither questions nor streams go through; why.
  [[nodiscard]] static std::string refusal_of(
      const Server& server, std::chrono::milliseconds timeout = std::chrono::seconds(5)) {
    PowerStreamOptions options;
    options.timeout = timeout;
    EXPECT_THROW(PowerStream({server}, options), ConnectionError);
    try {
      const DaemonClient client(server, timeout);
    } catch (const ConnectionError& error) {
      return error.what();
    }
    ADD_FAILURE() << "it is trusted";
    return {};
  }
  [[nodiscard]] std::string url() const { return "https://127.0.0.1:" + std::to_string(port_); }
};

TEST_F(ClientOverTls, IsAnsweredAndFollowsWhereItKnowsTheAuthority) {
  serve_tls();
  const Server server = at_port("cert.pem");
  EXPECT_EQ(DaemonClient(server).gpu_power({0}).power.at(0), Watts(75.0));
  const PowerStream stream({server});
  const PowerReadings readings = stream.snapshot().at(server.endpoint);
  EXPECT_EQ(readings.gpu.status, ConnectionStatus::live);
  EXPECT_EQ(readings.gpu_power.at(0).si(), 75.0);
}

TEST_F(ClientOverTls, RefusesADaemonWhoseAuthorityItDoesNotKnow) {
  serve_tls();
  EXPECT_THAT(refusal_of(at_port("")),
              HasSubstr("certificate; to trust it, name its file (--ca-file, Server::ca_file)"));
}

TEST_F(ClientOverTls, RefusesADaemonOfAnotherAuthority) {
  serve_tls();
  write_certificate(path("other.pem"), path("other-key.pem"), "IP:127.0.0.1");
  EXPECT_THAT(refusal_of(at_port("other.pem")),
              AllOf(HasSubstr("certificate"), HasSubstr("; it is not signed by one in ")));
}

TEST_F(ClientOverTls, RefusesADaemonWhoseCertificateIsAnothersName) {
  serve_tls();
  EXPECT_THAT(refusal_of(at_port("cert.pem", "localhost")), HasSubstr("localhost"));
}

TEST_F(ClientOverTls, SaysWhichFileOfAuthoritiesItCannotUse) {
  serve_tls();
  EXPECT_THAT(refusal_of(at_port("missing.pem")), HasSubstr(path("missing.pem").string()));
}

TEST_F(ClientOverTls, IsNoClientOfADaemonThatDoesNotEncrypt) {
  serve();
  // The daemon waits for a request, and the client for the other's hello.
  EXPECT_THAT(refusal_of(at_port("cert.pem"), std::chrono::milliseconds(200)),
              HasSubstr("no answer to the TLS handshake; if the daemon does not use TLS, write "
                        "http://127.0.0.1:"));
}

TEST_F(ClientOverTls, ThatDoesNotEncryptIsNotAnswered) {
  serve_tls();
  EXPECT_THAT(refusal_of(Server::tcp("127.0.0.1", port_)),
              HasSubstr("the daemon closed the connection without an answer; if the daemon uses "
                        "TLS, write https://127.0.0.1:"));
}

TEST_F(ClientOverTls, ShowsItsTokenThereToo) {
  serve_tls({"--signing-key-path", key_file(std::string(32, 'k'))});
  Server server = at_port("cert.pem");
  server.token = token("alice", "gpu-read");
  const PowerStream stream({server});
  const PowerReadings readings = stream.snapshot().at(server.endpoint);
  EXPECT_EQ(readings.gpu.status, ConnectionStatus::live);
  EXPECT_EQ(readings.cpu.status, ConnectionStatus::denied);
}

TEST_F(ClientOverTls, IsTheCommandWithItsOptionForAuthorities) {
  serve_tls();
  Process process(wattle({"stream", "--period", "0.05", "--ca-file", path("cert.pem"), url()}));
  EXPECT_TRUE(process.prints("\"power_w\":75.0"));
  process.send(SIGINT);
  EXPECT_EQ(process.wait().code(), 0);
}

TEST_F(ClientOverTls, IsTheCommandThatSaysWhomItDoesNotTrust) {
  serve_tls();
  constexpr int kNobodyTells = 2;
  const Outcome outcome = run(wattle({"stream", url()}));
  EXPECT_EQ(outcome.code(), kNobodyTells);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("127.0.0.1:" + std::to_string(port_)), HasSubstr("certificate")));
}

}  // namespace
}  // namespace wattle::integration
