#include "transport.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "base/text.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

class Plain final : public Transport {
 public:
  explicit Plain(int fd) noexcept : fd_(fd) {}
  [[nodiscard]] ssize_t receive(std::span<char> room) noexcept override {
    return ::recv(fd_, room.data(), room.size(), MSG_DONTWAIT);
  }
  [[nodiscard]] ssize_t send(std::string_view bytes) noexcept override {
    return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  void finish() noexcept override { ::shutdown(fd_, SHUT_WR); }

 private:
  int fd_;
};

struct FreeSsl {
  void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
};

class Tls final : public Transport {
 public:
  Tls(std::unique_ptr<SSL, FreeSsl> ssl, int fd) noexcept : ssl_(std::move(ssl)), fd_(fd) {}

  [[nodiscard]] ssize_t receive(std::span<char> room) noexcept override {
    ERR_clear_error();
    std::size_t count = 0;
    const int result = SSL_read_ex(ssl_.get(), room.data(), room.size(), &count);
    return result == 1 ? static_cast<ssize_t>(count) : failure(result);
  }
  [[nodiscard]] ssize_t send(std::string_view bytes) noexcept override {
    ERR_clear_error();
    std::size_t count = 0;
    const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &count);
    return result == 1 ? static_cast<ssize_t>(count) : failure(result);
  }
  [[nodiscard]] bool has_more() const noexcept override { return SSL_pending(ssl_.get()) > 0; }
  void finish() noexcept override {
    ERR_clear_error();
    (void)SSL_shutdown(ssl_.get());
    ::shutdown(fd_, SHUT_WR);
  }

 private:
  [[nodiscard]] ssize_t failure(int result) noexcept {
    const int error = SSL_get_error(ssl_.get(), result);
    if (error == SSL_ERROR_ZERO_RETURN) return 0;
    const bool waits = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
    errno = waits ? EAGAIN : EPROTO;
    return -1;
  }

  std::unique_ptr<SSL, FreeSsl> ssl_;
  int fd_;
};

[[noreturn]] void fail(const std::string& file, std::string_view what) {
  const char* const reason = ERR_reason_error_string(ERR_get_error());
  throw Error(fmt::format("cannot use {} as the server's {}: {}", printable(file), what,
                          reason != nullptr ? reason : "it cannot be read"));
}

std::unique_ptr<SSL_CTX, FreeSsl> make_context(const std::string& certificate,
                                               const std::string& key) {
  std::unique_ptr<SSL_CTX, FreeSsl> context(SSL_CTX_new(TLS_server_method()));
  if (!context) throw Error("cannot set up TLS: out of memory");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  // A write that found no room is repeated from another place in memory.
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate.c_str()) != 1) {
    fail(certificate, "certificate");
  }
  const bool is_good =
      SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) == 1 &&
      SSL_CTX_check_private_key(context.get()) == 1;
  if (!is_good) fail(key, "key");
  return context;
}

}  // namespace

std::unique_ptr<Transport> plain_transport(int fd) { return std::make_unique<Plain>(fd); }

struct TlsServer::Context {
  std::unique_ptr<SSL_CTX, FreeSsl> ssl;
};

TlsServer::TlsServer(const std::string& certificate, const std::string& key)
    : certificate_(certificate),
      key_(key),
      context_(std::make_unique<Context>(Context{make_context(certificate, key)})) {}

TlsServer::~TlsServer() = default;

std::unique_ptr<Transport> TlsServer::accept(int fd) const {
  std::unique_ptr<SSL, FreeSsl> ssl(SSL_new(context_->ssl.get()));
  if (!ssl || SSL_set_fd(ssl.get(), fd) != 1) return nullptr;
  SSL_set_accept_state(ssl.get());
  return std::make_unique<Tls>(std::move(ssl), fd);
}

void TlsServer::read_again() { context_->ssl = make_context(certificate_, key_); }

}  // namespace wattle::daemon
