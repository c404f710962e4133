// Sockets that clients connect to.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.hpp"

namespace wattle::daemon {

/// A socket that is listened at. The file of a Unix socket goes with it, if it is still the same.
struct Listener {
  Fd fd;
  bool is_local_socket = false;
  bool is_loopback = false;  ///< only this machine reaches it
  std::string name;          ///< "/run/wattled/wattled.sock", "127.0.0.1:4938"
};

struct SocketFileOptions {
  std::string path;
  mode_t mode = 0660;
  std::optional<uid_t> owner{};
  std::optional<gid_t> group{};
};

/// Makes parent folders. A socket file that nobody listens at any more is replaced; throws `Error`
/// for any other file, for one that somebody listens at, and where it cannot tell.
[[nodiscard]] Listener listen_at_file(const SocketFileOptions& options);

struct TcpAddress {
  std::string host;
  std::uint16_t port = 0;
};
/// "127.0.0.1:4938", "[::1]:4938", "localhost:4938". Throws `InvalidArgument`.
[[nodiscard]] TcpAddress parse_tcp_address(const std::string& text);

/// Throws `Error`: no such address, port in use. Port 0: one that is free.
[[nodiscard]] Listener listen_at_tcp(const TcpAddress& address);

/// A socket that was made by the service manager. Throws `Error` where it is none.
[[nodiscard]] Listener adopt_listener(Fd fd);

/// Takes the socket's file away, if it is the one made here.
void remove_socket_file(const Listener& listener) noexcept;

}  // namespace wattle::daemon
