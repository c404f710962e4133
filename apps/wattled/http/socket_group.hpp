// The group whose members may connect to the Unix socket.
#pragma once

#include <string>

#include "serve/options.hpp"

namespace wattle::daemon {

/// Sets the group of the socket file: the requested group, or the default group if root starts the
/// daemon. Throws `Error` if there is no such group.
void choose_socket_group(ServeOptions& options);

/// True if every user can connect to the socket file, or if the file cannot be seen.
[[nodiscard]] bool is_open_to_everybody(const std::string& socket_path);

/// For the log: who can connect to the socket file, and how others can. Empty: the file cannot be
/// seen.
[[nodiscard]] std::string who_may_connect(const std::string& socket_path);

}  // namespace wattle::daemon
