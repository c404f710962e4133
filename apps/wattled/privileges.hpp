// What the daemon gives up once everything is open.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace wattle::daemon {

/// True where this process is root's: as a service it is not.
[[nodiscard]] bool is_root() noexcept;
[[nodiscard]] bool is_user(const std::string& name);

/// Whose files that user's are; where there is none of that name, ours.
[[nodiscard]] uid_t uid_of(const std::string& name);

/// Makes a folder that is this user's alone (empty: ours), and those above it. One that is there
/// stays as it is; what fails shows when a file is made in it.
void make_folder_of(const std::string& user, const std::string& folder);

/// What is kept of root's rights.
enum class Kept : std::uint8_t {
  nothing,
  administration,  ///< CAP_SYS_ADMIN, as drivers want it of who sets GPUs
};

/// From now on the process is this user's, with its groups and without any capability that is not
/// kept, in threads that start from now on, and cannot become another's, nor start a program, nor
/// make what a service that reads has no business with (seccomp: it fails with EPERM). All threads.
/// Throws `Error` where that cannot be had: then the process must not go on. To be called once, as
/// root.
void give_up_root(const std::string& user, Kept kept = Kept::nothing);

}  // namespace wattle::daemon
