// Sockets that clients connect to.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/files/fd.hpp"

namespace wattle::daemon {

/// A listening socket.
struct ListeningSocket {
  Fd fd;
  bool is_local_socket = false;
  bool is_loopback = false;  ///< only this machine can reach it
  /// "/run/wattled/wattled.sock", "127.0.0.1:4938"; "@name": a Unix socket without a file.
  std::string name{};
  /// The socket file that was made here; 0: none was.
  dev_t device = 0;
  ino_t inode = 0;
};

struct SocketFileOptions {
  std::string path;
  mode_t mode = 0660;
  std::optional<uid_t> owner{};
  std::optional<gid_t> group{};
  /// The owner of a folder that has to be made: this user can remove the socket at the end.
  std::optional<uid_t> folder_owner{};
};

/// Makes missing parent folders. Replaces a socket file at which no process listens. Throws `Error`
/// for any other file, for a socket in use, and if it cannot find out.
[[nodiscard]] ListeningSocket listen_at_file(const SocketFileOptions& options);

struct TcpAddress {
  std::string host;
  std::uint16_t port = 0;
};
/// Parses "127.0.0.1:4938", "[::1]:4938", "localhost:4938". Throws `InvalidArgument`.
[[nodiscard]] TcpAddress parse_tcp_address(const std::string& text);

/// Throws `Error`: no such address, port in use. Port 0: the kernel chooses a free port.
[[nodiscard]] ListeningSocket listen_at_tcp(const TcpAddress& address);

/// Takes over a socket of the service manager. Throws `Error` if `fd` is not a listening socket.
[[nodiscard]] ListeningSocket adopt_listener(Fd fd);

/// Removes the socket file if it is still the one made here. Call it while the socket is open: then
/// no other file can have the same inode.
void remove_socket_file(const ListeningSocket& listener) noexcept;

}  // namespace wattle::daemon
