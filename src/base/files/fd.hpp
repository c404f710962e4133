// A file descriptor that closes itself, and the few system calls made on one.
#pragma once

#include <sys/types.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "wattle/export.hpp"

namespace wattle {

/// Owns one descriptor, or none (then `get()` is -1). Threads: a value type, movable.
class Fd {
 public:
  Fd() noexcept = default;
  explicit Fd(int fd) noexcept : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  WATTLE_EXPORT void reset() noexcept;
  /// Gives the descriptor away: the caller closes it.
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

/// Opens /dev/null at those of the descriptors 0 to 2 that are closed: a later file would get their
/// number. Which of them were closed. Ends the process where that fails. To be called first.
std::array<bool, 3> open_closed_standard_descriptors() noexcept;

/// Opens for reading, close-on-exec. An empty `Fd` with `errno` set where that fails.
[[nodiscard]] Fd open_for_reading(const std::string& path) noexcept;

/// Repeats a system call while a signal interrupts it, and returns its result.
template <class Call>
[[nodiscard]] auto retried(Call call) noexcept {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// One `pread`, repeated while interrupted. Bytes read, or -1 with `errno` set.
[[nodiscard]] ssize_t read_at(int fd, std::span<char> buffer, std::uint64_t offset) noexcept;
[[nodiscard]] inline ssize_t read_at_start(int fd, std::span<char> buffer) noexcept {
  return read_at(fd, buffer, 0);
}
/// The start of an open file, as much as one read brings into `buffer`. Empty if it is empty,
/// `file` is not open, or reading fails with `errno` set.
[[nodiscard]] std::string_view text_at_start(const Fd& file, std::span<char> buffer) noexcept;

/// All of a file that the kernel hands out in pieces, from `offset` on, as much as fits; -1 with
/// `errno` set.
[[nodiscard]] ssize_t read_pieces(int fd, std::span<char> buffer,
                                  std::uint64_t offset = 0) noexcept;

/// Writes everything, waiting where the descriptor does not block; 0, or the `errno` that stopped
/// it.
[[nodiscard]] int write_all(int fd, std::span<const char> bytes) noexcept;

}  // namespace wattle
