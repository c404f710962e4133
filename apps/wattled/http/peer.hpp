// The client at the other end of a connection.
#pragma once

#include <sys/socket.h>

#include <string>

#include "http/listening.hpp"

namespace wattle::daemon {

/// A client, as its socket shows it.
struct Peer {
  bool is_local_socket = false;  ///< through the Unix socket
  bool is_loopback = false;
  bool at_loopback = false;  ///< connected to an address that only this machine can reach
  std::string name;          ///< for the log: "uid 1000", "127.0.0.1"
  /// The key of its limits: `name`; for IPv6 the /64 network, since one user has all of it; one key
  /// for all addresses of this machine.
  std::string client{name};
};

/// The peer of `fd`, a connection accepted at `listener`.
[[nodiscard]] Peer peer_of(const ListeningSocket& listener, int fd);

/// The address as text: "127.0.0.1", "2001:db8::1"; "unknown" for any other family.
[[nodiscard]] std::string address_text(const sockaddr_storage& address);

/// `Peer::client` of an address: "192.0.2.1", "2001:db8::/64"; "127.0.0.1" for every loopback
/// address.
[[nodiscard]] std::string client_of(const sockaddr_storage& address);

}  // namespace wattle::daemon
