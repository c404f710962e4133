// A file that a tracker adds to at each sample.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/files/fd.hpp"

namespace wattle {

/// The first write that fails ends the writing to it; what was there before that write stays. A
/// signal that a write could bring (SIGPIPE, SIGXFSZ) is kept from the program. Threads: one at a
/// time.
class OutputFile {
 public:
  /// None: nothing can be added.
  OutputFile() noexcept = default;
  /// Makes a file. Throws `InvalidArgument`, which calls it `what`, where it exists and `overwrite`
  /// is false, `WriteError`. With `overwrite` it is what is there, by a link too, and keeps what it
  /// holds until `clear`. What is no regular file (a pipe, a terminal) is only written to. A new
  /// file is its owner's alone.
  OutputFile(const std::filesystem::path& path, bool overwrite, std::string_view what);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Removes a file that it made, unless it is to be kept.
  ~OutputFile();

  void keep(bool wanted) noexcept { is_kept_ = wanted; }

  /// True while it can be added to.
  explicit operator bool() const noexcept { return static_cast<bool>(fd_); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Size in bytes; 0 if it is not a regular file.
  [[nodiscard]] std::size_t bytes() const noexcept { return is_regular_ ? bytes_ : 0; }

  /// True if both write to one file, by whatever names.
  [[nodiscard]] bool is(const OutputFile& other) const noexcept;

  /// Throws away what the file holds. Throws `WriteError`.
  void clear();
  /// 0, or the `errno` of a failure, after which it is closed; ENOENT where somebody removed it.
  [[nodiscard]] int append(std::string_view text) noexcept;
  /// Puts a new file that holds `text` alone in its place, in one step: at any time there is the
  /// one or the other, whole. A link to the file stays, and is one to the new file. 0, or an
  /// `errno` (EEXIST: it is not in its place any more); then the old one goes on.
  [[nodiscard]] int replace_with(std::string_view text);
  /// Closes it, and removes it where it is a regular file; not a link to it, nor another file that
  /// was put in its place.
  void remove() noexcept;

 private:
  /// False where another file is in its place, or none.
  [[nodiscard]] bool is_in_its_place() const noexcept;

  std::string path_;
  /// Where the file itself is: after links, and independent of the current folder.
  std::string place_;
  Fd fd_;
  std::pair<dev_t, ino_t> id_;  ///< identifies the file
  bool is_regular_ = false;
  bool was_made_ = false;
  bool is_kept_ = false;
  std::size_t bytes_ = 0;
};

}  // namespace wattle
