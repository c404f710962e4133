// Whose a process is: the command's, one of its descendants', or somebody else's.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>

namespace wattle {

enum class Kinship : std::uint8_t {
  main,        ///< the command itself
  descendant,  ///< of the command, or an orphan that this process adopted
  stranger,
  unknown,  ///< it has ended, or was never seen from here
};

/// Whose the process `pid` is, by the real /proc of this process's PID namespace. `command`: a
/// child of this process, which adopts orphans (it is a subreaper). Threads: any.
[[nodiscard]] Kinship kinship_of(pid_t pid, pid_t command);

/// True if process numbers here are those of the whole machine, which drivers use: this process is
/// in no PID namespace of a container.
[[nodiscard]] bool sees_machine_pids();

/// True if this process may read which files processes of other users have open, by which the users
/// of GPUs of AMD and Intel are found. `procfs`: where /proc is, or a tree without processes of its
/// own. Threads: any.
[[nodiscard]] bool sees_files_of_all(const std::filesystem::path& procfs = "/proc");

}  // namespace wattle
