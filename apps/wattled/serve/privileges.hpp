// The rights that the daemon gives up after its start.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "serve/confinement.hpp"

namespace wattle::daemon {

/// True if this process runs as root. A service does not.
[[nodiscard]] bool is_root() noexcept;
[[nodiscard]] bool is_user(const std::string& name);
/// The user that root changes to; empty: no change. `chosen`: of --user.
[[nodiscard]] std::string user_after_root(const std::string& chosen);

/// The uid of the user `name`; the process's own if there is no such user.
[[nodiscard]] uid_t uid_of(const std::string& name);

/// Makes a folder that only `user` can use (empty: the process's own user), and its parent folders.
/// An existing folder stays unchanged. Reports no error: making a file in it reports it.
void make_folder_of(const std::string& user, std::string folder);

/// The rights of root that stay.
enum class KeptRights : std::uint8_t {
  nothing,
  administration,  ///< CAP_SYS_ADMIN, which drivers require to set GPUs
};

/// Makes all threads run as `user`, with its groups. The process loses every capability except
/// `kept`, which this thread and later ones have. It can no longer change its user, start a
/// program, or make system calls that a reading service does not need (seccomp: EPERM). Throws
/// `Error` on failure: then the process must end. Call it once, as root.
void give_up_root(const std::string& user, KeptRights kept = KeptRights::nothing,
                  Reach reach = Reach::machine);

}  // namespace wattle::daemon
