// Files that readers see whole: with the old content or the new one, never with a part of it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/files/fd.hpp"
#include "base/files/output_path.hpp"

namespace wattle {

/// The file itself that `path` names, as `find_output`: after all links, and with its whole path,
/// so that the current folder may change. The file need not exist; where its folder does not,
/// `path` itself.
[[nodiscard]] std::string resolved_output_path(const std::string& path);

/// True if both paths name one file, by whatever names, also where it does not exist yet. False for
/// what is no regular file.
[[nodiscard]] bool is_same_file(const std::string& a, const std::string& b);

/// A new file, opened to append to it; or none, and the `errno` of the failure.
struct NewFile {
  Fd fd;
  int error = 0;
};
/// Writes `content` to a new file in the folder of `place` (see `resolved_output_path`) and renames
/// it to `place`, with the mode and the owner of the file that was there, else `mode` less the
/// umask. On failure `place` is as it was. A process that is killed here leaves a file
/// ".wattle-*.tmp" in the folder at worst. No signal of a write (SIGPIPE, SIGXFSZ) reaches the
/// program. The content is not forced to the disk.
[[nodiscard]] NewFile put_in_place(const std::string& place, std::string_view content,
                                   mode_t mode = kModeForAll);

/// A file that gets its content at once, when all of it is known. What is no regular file (a pipe,
/// a terminal) is opened by the constructor and only written to. Threads: one at a time.
class WholeFile {
 public:
  enum class Mode : std::uint8_t {
    replace,  ///< as `put_in_place`
    extend,   ///< adds to what is there: all of the content, or nothing; others may add at the same
              ///< time
  };
  /// Checks that the file can be written, but neither makes nor changes it. Throws `WriteError`.
  WholeFile(std::string path, Mode mode);

  /// To be called once. Throws `WriteError`; then a regular file is as it was. One exception: where
  /// the folder takes no new file (rights, a file that is mounted by itself), an existing file that
  /// can be read and is shorter than 64 MiB is overwritten. After a failure it gets its old content
  /// back; a process that is killed before the end leaves a mixture.
  void write(std::string_view content);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  [[nodiscard]] int replace(std::string_view content);
  [[nodiscard]] int overwrite(std::string_view content);

  std::string path_;
  std::string place_;
  Mode mode_;
  bool is_regular_ = true;
  Fd fd_;  ///< none: a regular file that does not exist yet
};

}  // namespace wattle
