// The system calls that the daemon may make after its start (seccomp).
#pragma once

namespace wattle::daemon {

/// From now on, no thread of this process can gain rights. Every system call that reading and
/// serving do not need fails with EPERM. Throws `Error` if the kernel refuses.
void confine();

}  // namespace wattle::daemon
