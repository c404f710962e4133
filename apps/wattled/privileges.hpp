// What the daemon gives up once everything is open.
#pragma once

#include <string>

namespace wattle::daemon {

/// True where this process is root's: as a service it is not.
[[nodiscard]] bool is_root() noexcept;
[[nodiscard]] bool is_user(const std::string& name);

/// From now on the process is this user's, with its groups and without any capability, and cannot
/// become another's, nor start a program, nor make what a service that reads has no business with
/// (seccomp: it fails with EPERM). All threads. Throws `Error` where that cannot be had: then the
/// process must not go on. To be called once, as root.
void give_up_root(const std::string& user);

}  // namespace wattle::daemon
