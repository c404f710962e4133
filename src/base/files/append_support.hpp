// System calls for files that several processes append to.
#pragma once

#include <chrono>
#include <csignal>
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

}  // namespace wattle
