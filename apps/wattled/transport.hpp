// How bytes go over a connection: as they are, or encrypted.
#pragma once

#include <sys/types.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/fd.hpp"

namespace wattle::daemon {

/// Never waits. Threads: the loop's.
class SocketTransport {
 public:
  virtual ~SocketTransport() = default;
  /// Bytes that came; 0 at the end; -1, with `errno` EAGAIN where nothing is there yet.
  [[nodiscard]] virtual ssize_t receive(std::span<char> room) noexcept = 0;
  /// Bytes that were taken; -1, with `errno` EAGAIN where there is no room. Then the next call is
  /// with the same bytes again.
  [[nodiscard]] virtual ssize_t send(std::string_view bytes) noexcept = 0;
  /// There are bytes to receive that the descriptor does not show.
  [[nodiscard]] virtual bool has_more() const noexcept { return false; }
  /// It holds memory for something that has not come whole: a handshake, a record.
  [[nodiscard]] virtual bool is_half() const noexcept { return false; }
  /// Nothing more is sent.
  virtual void finish() noexcept = 0;
};

/// Bytes as they are. `fd` outlives it.
[[nodiscard]] std::unique_ptr<SocketTransport> plain_transport(int fd);

/// A server's certificate and key. Threads: the loop's.
class TlsServer {
 public:
  /// PEM files; the certificate with its chain, the key for nobody else to read. Clients need a
  /// certificate that one of `client_authorities` signed, where that is not empty. Throws `Error`
  /// where they cannot be used.
  TlsServer(const std::string& certificate, const std::string& key,
            const std::string& client_authorities = {});
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;
  ~TlsServer();

  /// TLS 1.2 or later, with forward secrecy and authenticated encryption alone. `fd` outlives it.
  /// Null where there is no memory for it.
  [[nodiscard]] std::unique_ptr<SocketTransport> accept(int fd) const;
  /// For connections from now on. Throws as the constructor, and nothing has changed then.
  void read_again();

 private:
  struct Context;
  std::string certificate_;
  std::string key_;
  std::string client_authorities_;
  std::unique_ptr<Context> context_;
};

}  // namespace wattle::daemon
