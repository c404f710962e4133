// A file that a tracker adds to at each look.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/fd.hpp"

namespace wattle {

/// The first write that fails ends the writing to it; what is there stays. A signal that a write
/// could bring (SIGPIPE, SIGXFSZ) is kept from the program. Threads: one at a time.
class OutputFile {
 public:
  /// None: nothing can be added.
  OutputFile() noexcept = default;
  /// Makes an empty file. Throws `InvalidArgument`, which calls it `what`, where it exists and
  /// `overwrite` is false, `WriteError`. What is no regular file (a pipe, a terminal) is only
  /// written to.
  OutputFile(const std::filesystem::path& path, bool overwrite, std::string_view what);

  /// True while it can be added to.
  explicit operator bool() const noexcept { return static_cast<bool>(fd_); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// What it holds; 0 where that is nothing to be kept small.
  [[nodiscard]] std::size_t bytes() const noexcept { return is_regular_ ? bytes_ : 0; }

  /// True if both write to one file, by whatever names.
  [[nodiscard]] bool is(const OutputFile& other) const noexcept;

  /// 0, or the `errno` of a failure, after which it is closed; ENOENT where somebody removed it.
  [[nodiscard]] int append(std::string_view text) noexcept;
  /// Puts a new file that holds `text` alone in its place, in one step: at any time there is the
  /// one or the other, whole. 0, or an `errno`; then the old one goes on.
  [[nodiscard]] int begin_anew(std::string_view text);
  /// Closes it, and removes it where it is a regular file.
  void remove() noexcept;

 private:
  std::string path_;
  Fd fd_;
  bool is_regular_ = false;
  std::size_t bytes_ = 0;
};

}  // namespace wattle
