// A client that encrypts, and has its records in hand: it may send half of one, or many in one go.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/files/fd.hpp"

namespace wattle::integration {

/// What a client asks of TLS; the defaults are OpenSSL's.
struct TlsChoice {
  int version = 0;            ///< TLS1_2_VERSION or TLS1_3_VERSION alone; 0: any
  std::string ciphers{};      ///< of TLS 1.2, in OpenSSL's words
  std::string certificate{};  ///< of the client, a PEM file
  std::string key{};          ///< likewise
};

/// A connection to 127.0.0.1; it trusts whoever answers. Waits at most `kDeadline`.
class TlsClient {
 public:
  explicit TlsClient(std::uint16_t port, const TlsChoice& choice = {});

  /// Whether both have agreed. To be called once, before the rest.
  [[nodiscard]] bool shake_hands();
  /// What a handshake begins with, not sent; in place of `shake_hands`.
  [[nodiscard]] std::string first_bytes();
  /// The records of `bytes`, not sent.
  [[nodiscard]] std::string sealed(std::string_view bytes);
  /// As they are.
  void send_raw(std::string_view bytes) const;
  void send(std::string_view bytes) { send_raw(sealed(bytes)); }
  /// What the server said until `end` stands at its end, or it closed.
  [[nodiscard]] std::string read_until(std::string_view end);
  [[nodiscard]] std::string read_to_end();
  /// The next answer with its body; empty where the server closed before.
  [[nodiscard]] std::string read_answer();
  /// Nothing more is sent: what the server says still comes.
  void finish_sending() const;
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  struct Free {
    void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
    void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  };
  /// False where nothing more comes.
  [[nodiscard]] bool receive();
  /// What is to be sent now.
  [[nodiscard]] std::string taken_out();
  void open_records();

  std::unique_ptr<SSL_CTX, Free> context_;
  std::unique_ptr<SSL, Free> ssl_;
  Fd fd_;
  std::string in_;
};

}  // namespace wattle::integration
