// A file that is appended to, all of it or nothing, and the system calls for files that several
// processes append to.
#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/files/fd.hpp"
#include "base/files/output_path.hpp"

namespace wattle {

/// How an existing regular file is treated.
enum class Existing : std::uint8_t {
  keep,
  empty,
  refuse,  ///< EEXIST
};
/// Opens a file to write at its end, or makes it with `mode`; a regular one can be read too. An
/// empty `Fd` with `errno` set where that fails. Links and FIFOs are opened as by `open_output`.
[[nodiscard]] Fd open_to_append(const std::string& path, Existing existing = Existing::keep,
                                mode_t mode = kModeForAll);

/// Waits until nobody else holds the lock of the file (flock), and takes it; false where somebody
/// keeps it for longer than `patience` (another program, a writer that was stopped). Some file
/// systems have no locks: then it does nothing.
[[nodiscard]] bool lock_file(int fd, std::chrono::milliseconds patience) noexcept;
void unlock_file(int fd) noexcept;

/// Some file systems (NFS, quotas) report an error only when a descriptor of the file is closed. 0,
/// or an `errno`.
[[nodiscard]] int close_copy(int fd) noexcept;

/// While it lives, a file that would grow beyond this process's limit (RLIMIT_FSIZE) and a pipe
/// whose reader has gone are errors of the writing thread's `write`, not the end of the process.
class NoWriteSignals {
 public:
  NoWriteSignals() noexcept;
  ~NoWriteSignals();
  NoWriteSignals(const NoWriteSignals&) = delete;
  NoWriteSignals& operator=(const NoWriteSignals&) = delete;

 private:
  sigset_t ours_{};  ///< those that nobody sent before
  sigset_t before_{};
};

/// `write_all` under `NoWriteSignals`: 0, or the `errno` that stopped it.
[[nodiscard]] int write_all_quietly(int fd, std::string_view text) noexcept;

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
