// Who may connect to the Unix socket.
#pragma once

#include <string>

#include "options.hpp"

namespace wattle::daemon {

/// Gives the socket that is to be made the group that was asked for, or, where root starts the
/// daemon, the one whose members are to be its clients. Throws `Error` where there is no such
/// group.
void choose_socket_group(ServeOptions& options);

/// True where the socket's file lets every user connect, and where there is no such file to see.
[[nodiscard]] bool is_open_to_everybody(const std::string& socket_path);

/// For the log: who can connect to the socket's file, and how others can. Empty where it cannot be
/// seen.
[[nodiscard]] std::string who_may_connect(const std::string& socket_path);

}  // namespace wattle::daemon
