// Opening the files that a user names for output.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/files/fd.hpp"

namespace wattle {

/// The mode of new files that any user may read, less the user's umask.
inline constexpr mode_t kModeForAll = 0666;
/// That of files that show what happened when: power that is resolved finely in time shows
/// what other programs computed (PLATYPUS, CVE-2020-8694).
inline constexpr mode_t kModeForOwner = 0600;

struct OutputPlace {
  /// The file itself, after all links. A link that leads out of the name space (/proc/self/fd/1)
  /// stays as it is.
  std::string path;
  /// EACCES: a link of another user in a folder in which all users may make files (sticky, as
  /// /tmp). Following it would let that user choose the file. `path` is the link then.
  int error = 0;
};
[[nodiscard]] OutputPlace find_output(const std::string& path);

/// As open(2) with O_CLOEXEC and O_NOCTTY, but follows no link of another user in a sticky folder
/// (EACCES), whatever fs.protected_symlinks is, and waits for no reader of a FIFO (ENXIO). No file:
/// `errno` says why. Threads: any.
[[nodiscard]] Fd open_output(const std::string& path, int flags, mode_t mode = kModeForAll);

}  // namespace wattle
