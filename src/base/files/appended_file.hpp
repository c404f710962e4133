// A file that is appended to: all of it, or nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/files/fd.hpp"

namespace wattle {

/// Opens a file, or makes it, and adds to its end. Until `commit`, the file is put back to what it
/// was when this object goes. Others that append through this class wait until then, in this and in
/// other processes; those that do not know of the lock at least overwrite nothing (O_APPEND).
/// What is no regular file (a pipe, a terminal) is only written to. Threads: one.
class AppendedFile {
 public:
  /// Throws `WriteError`, as do all that follow.
  explicit AppendedFile(std::string path);
  ~AppendedFile();
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;

  /// Bytes that were in it before; 0 for what is no regular file.
  [[nodiscard]] std::uint64_t size_before() const noexcept { return size_before_; }
  /// At most `count` bytes of what was in it before, from `offset` on.
  [[nodiscard]] std::string read(std::uint64_t offset, std::size_t count) const;

  /// Adds `bytes`, which stay together where other processes append too.
  void write(std::string_view bytes);
  /// Writes what is still kept back. Then the file is done, and stays.
  void commit();

 private:
  void flush();
  [[noreturn]] void fail(int error_number) const;

  std::string path_;
  Fd fd_;
  bool regular_ = false;
  bool committed_ = false;
  std::uint64_t size_before_ = 0;
  std::string kept_back_;
};

}  // namespace wattle
