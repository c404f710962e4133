// The system calls that the daemon can make once everything is open.
#pragma once

namespace wattle::daemon {

/// From now on this process cannot gain rights, and every system call that reading and serving do
/// not need fails with EPERM (seccomp). All threads. Throws `Error` where that cannot be had.
void confine();

}  // namespace wattle::daemon
