// Sends and receives the bytes of a connection, plain or encrypted.
#pragma once

#include <sys/types.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/files/fd.hpp"

namespace wattle::daemon {

/// Never blocks. Threads: the loop's.
class SocketTransport {
 public:
  virtual ~SocketTransport() = default;
  /// The number of received bytes; 0: end; -1: error, with `errno` EAGAIN if nothing has arrived.
  [[nodiscard]] virtual ssize_t receive(std::span<char> room) noexcept = 0;
  /// The number of accepted bytes; -1: error, with `errno` EAGAIN if there is no room. Then the
  /// next call must have the same bytes.
  [[nodiscard]] virtual ssize_t send(std::string_view bytes) noexcept = 0;
  /// True if bytes can be received although the descriptor is not readable.
  [[nodiscard]] virtual bool has_more() const noexcept { return false; }
  /// True if it holds memory for a partial handshake or record.
  [[nodiscard]] virtual bool has_partial_record() const noexcept { return false; }
  /// Ends sending.
  virtual void finish() noexcept = 0;
};

/// Bytes as they are. `fd` outlives it.
[[nodiscard]] std::unique_ptr<SocketTransport> plain_transport(int fd);

/// A server's certificate and key. Threads: the loop's.
class TlsServer {
 public:
  /// Paths of PEM files: the certificate with its chain, and a key that others cannot read. If
  /// `client_authorities` is not empty, clients need a certificate that one of them signed. Throws
  /// `Error` if a file cannot be used.
  TlsServer(const std::string& certificate, const std::string& key,
            const std::string& client_authorities = {});
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;
  ~TlsServer();

  /// TLS 1.2 or later, only with forward secrecy and authenticated encryption. `fd` outlives it.
  /// Null: no memory.
  [[nodiscard]] std::unique_ptr<SocketTransport> accept(int fd) const;
  /// Reads the files again, for new connections. Throws as the constructor; then nothing changes.
  void reload();

 private:
  struct Context;
  std::string certificate_;
  std::string key_;
  std::string client_authorities_;
  std::unique_ptr<Context> context_;
};

}  // namespace wattle::daemon
