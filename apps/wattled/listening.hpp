// Sockets that clients connect to.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.hpp"

namespace wattle::daemon {

/// A socket that is listened at.
struct Listener {
  Fd fd;
  bool is_local_socket = false;
  bool is_loopback = false;  ///< only this machine reaches it
  /// "/run/wattled/wattled.sock", "127.0.0.1:4938"; "@name": a Unix socket without a file.
  std::string name;
  /// Of the socket's file that was made here; 0: none was.
  dev_t device = 0;
  ino_t inode = 0;
};

struct SocketFileOptions {
  std::string path;
  mode_t mode = 0660;
  std::optional<uid_t> owner{};
  std::optional<gid_t> group{};
  /// Whose the folder is to be, if one has to be made: who may remove the socket at the end.
  std::optional<uid_t> folder_owner{};
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

/// Removes the socket's file, if it is still the one made here. To be called while the socket is
/// open: no other file can have the same inode then.
void remove_socket_file(const Listener& listener) noexcept;

}  // namespace wattle::daemon
