// Why a Unix socket cannot be connected to, and what to do.
#pragma once

#include <string>

namespace wattle::client {

/// "/run/wattled/wattled.sock: Permission denied; ...": the path, the reason, the remedy. Connects
/// again to find out. Empty: the connection now succeeds. Threads: any.
[[nodiscard]] std::string socket_failure(const std::string& path);

}  // namespace wattle::client
