// Whose a process is: the command's, one of its descendants', or somebody else's.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace wattle {

enum class Kinship : std::uint8_t {
  main,        ///< the command itself
  descendant,  ///< of the command, or an orphan that this process adopted
  stranger,
  unknown,  ///< it has ended, or was never seen from here
};

/// The processes that a command has started, told by the real /proc: this is about our own
/// processes, not about the machine that is measured. Threads: any.
class ProcessTree {
 public:
  /// `command`: a child of this process, which adopts orphans (it is a subreaper).
  explicit ProcessTree(pid_t command) noexcept : command_(command) {}

  /// By the numbers of this process's own PID namespace.
  [[nodiscard]] Kinship kinship_of(pid_t pid) const;

 private:
  pid_t command_;
};

/// True if process numbers here are those of the whole machine, which drivers use: this process is
/// in no PID namespace of a container.
[[nodiscard]] bool sees_machine_pids();

}  // namespace wattle
