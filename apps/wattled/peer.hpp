// Who is at the other end of a connection.
#pragma once

#include <sys/socket.h>

#include <string>

#include "listening.hpp"

namespace wattle::daemon {

/// Who asks.
struct Peer {
  bool is_local_socket = false;  ///< through the Unix socket
  bool is_loopback = false;
  bool at_loopback = false;  ///< through an address that only this machine reaches
  std::string name;          ///< for the log: "uid 1000", "127.0.0.1"
  /// Whose limits apply: as `name`; with IPv6 the network of 64 bits, as its user has all of it,
  /// and this machine as one.
  std::string client{name};
};

/// Of a connection that was accepted at that socket.
[[nodiscard]] Peer peer_of(const Listener& listener, int fd);

/// The address as text: "127.0.0.1", "2001:db8::1"; "?" for one of neither kind.
[[nodiscard]] std::string address_text(const sockaddr_storage& address);

/// What `Peer::client` is for an address: "192.0.2.1", "2001:db8::/64"; "127.0.0.1" for each
/// address of the loopback interface.
[[nodiscard]] std::string client_of(const sockaddr_storage& address);

}  // namespace wattle::daemon
