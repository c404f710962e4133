#include "http/transport.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

#include "auth/secret_file.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

class Plain final : public SocketTransport {
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
  void operator()(BIO* bytes) const noexcept { BIO_free(bytes); }
  void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
};

class Tls final : public SocketTransport {
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
  [[nodiscard]] bool has_partial_record() const noexcept override {
    return SSL_is_init_finished(ssl_.get()) == 0 || is_in_body() ||
           (SSL_has_pending(ssl_.get()) != 0 && SSL_pending(ssl_.get()) == 0);
  }
  void finish() noexcept override {
    ERR_clear_error();
    (void)SSL_shutdown(ssl_.get());
    ::shutdown(fd_, SHUT_WR);
  }

 private:
  /// Only the head of a record has arrived: OpenSSL has memory for all of it, but reports nothing
  /// as pending.
  [[nodiscard]] bool is_in_body() const noexcept {
    return std::string_view(SSL_rstate_string(ssl_.get())) == "RB" && SSL_pending(ssl_.get()) == 0;
  }
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

/// One of the files of the server's options.
struct PemFile {
  const std::string& path;
  std::string_view use;       ///< "the server's key"
  std::string_view contents;  ///< "an unencrypted key"
  std::string_view option;
};

/// Throws why OpenSSL cannot use the file, and what to do.
[[noreturn]] void fail(const PemFile& file) {
  const unsigned long error = ERR_get_error();
  const char* const said = ERR_reason_error_string(error);
  const Fd opened(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string reason = said != nullptr ? said : "it cannot be read";
  std::string remedy = fmt::format("name a PEM file with {} in {}", file.contents, file.option);
  if (!opened) {
    reason = std::generic_category().message(errno);
    if (errno == EACCES) remedy = "let the user of wattled read it";
  } else if (ERR_GET_REASON(error) == ERR_R_UNSUPPORTED ||
             (ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE)) {
    reason = fmt::format("it does not contain {}", file.contents);
  } else if (ERR_GET_LIB(error) == ERR_LIB_X509 &&
             ERR_GET_REASON(error) == X509_R_KEY_VALUES_MISMATCH) {
    reason = "it is not the key of the certificate";
    remedy = fmt::format("name the key of the certificate in {}", file.option);
  }
  throw Error(
      fmt::format("cannot use {} as {}: {}; {}", printable(file.path), file.use, reason, remedy));
}

void use_key(SSL_CTX& context, const std::string& path) {
  const std::string text = read_secret_file(path, "server's key");
  const std::unique_ptr<BIO, FreeSsl> bytes(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  // A daemon cannot enter the password of a key.
  const auto no_password = [](char*, int, int, void*) { return 0; };
  const std::unique_ptr<EVP_PKEY, FreeSsl> key(
      PEM_read_bio_PrivateKey(bytes.get(), nullptr, no_password, nullptr));
  const bool is_good = key && SSL_CTX_use_PrivateKey(&context, key.get()) == 1 &&
                       SSL_CTX_check_private_key(&context) == 1;
  if (!is_good) fail({path, "the server's key", "a key without a password", "--tls-key"});
}

void ask_for_certificates(SSL_CTX& context, const std::string& authorities) {
  STACK_OF(X509_NAME)* const names = SSL_load_client_CA_file(authorities.c_str());
  if (names == nullptr || SSL_CTX_load_verify_file(&context, authorities.c_str()) != 1) {
    fail({authorities, "authorities of clients", "certificates", "--tls-client-ca"});
  }
  SSL_CTX_set_client_CA_list(&context, names);  // takes them over
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
}

std::unique_ptr<SSL_CTX, FreeSsl> make_context(const std::string& certificate,
                                               const std::string& key,
                                               const std::string& client_authorities) {
  std::unique_ptr<SSL_CTX, FreeSsl> context(SSL_CTX_new(TLS_server_method()));
  if (!context) throw Error("cannot set up TLS: out of memory");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // Tickets would be encrypted with one key for the whole life of the daemon.
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF |
                                         SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  const bool has_ciphers =
      SSL_CTX_set_cipher_list(context.get(), "ECDHE+AESGCM:ECDHE+CHACHA20") == 1 &&
      SSL_CTX_set_ciphersuites(context.get(),
                               "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:"
                               "TLS_AES_128_GCM_SHA256") == 1;
  if (!has_ciphers) throw Error("cannot set up TLS: OpenSSL has none of the ciphers");
  // A write without room is repeated from another address.
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate.c_str()) != 1) {
    fail({certificate, "the server's certificate", "a certificate", "--tls-cert"});
  }
  use_key(*context, key);
  if (!client_authorities.empty()) ask_for_certificates(*context, client_authorities);
  return context;
}

}  // namespace

std::unique_ptr<SocketTransport> plain_transport(int fd) { return std::make_unique<Plain>(fd); }

struct TlsServer::Context {
  std::unique_ptr<SSL_CTX, FreeSsl> ssl;
};

TlsServer::TlsServer(const std::string& certificate, const std::string& key,
                     const std::string& client_authorities)
    : certificate_(certificate),
      key_(key),
      client_authorities_(client_authorities),
      context_(
          std::make_unique<Context>(Context{make_context(certificate, key, client_authorities)})) {}

TlsServer::~TlsServer() = default;

std::unique_ptr<SocketTransport> TlsServer::accept(int fd) const {
  std::unique_ptr<SSL, FreeSsl> ssl(SSL_new(context_->ssl.get()));
  if (!ssl || SSL_set_fd(ssl.get(), fd) != 1) return nullptr;
  SSL_set_accept_state(ssl.get());
  return std::make_unique<Tls>(std::move(ssl), fd);
}

void TlsServer::reload() { context_->ssl = make_context(certificate_, key_, client_authorities_); }

}  // namespace wattle::daemon
