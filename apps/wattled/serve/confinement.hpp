// The system calls that the daemon may make after its start (seccomp).
#pragma once

#include <cstdint>

namespace wattle::daemon {

/// Who may be connected to after the start.
enum class Reach : std::uint8_t {
  machine,  ///< Unix sockets alone: the service manager
  network,  ///< also name servers and a collector of telemetry
};

/// From now on, no thread of this process can gain rights. Every system call that reading and
/// serving do not need fails with EPERM. Throws `Error` if the kernel refuses.
void confine(Reach reach = Reach::machine);

}  // namespace wattle::daemon
