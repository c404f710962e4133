#include "base/files/fd.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace wattle {

void Fd::reset() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

std::array<bool, 3> open_closed_standard_descriptors() noexcept {
  std::array<bool, 3> closed{};
  // One call for the usual case: nothing is asked for, so what comes back is an error.
  std::array<pollfd, 3> three = {pollfd{0, 0, 0}, pollfd{1, 0, 0}, pollfd{2, 0, 0}};
  if (::poll(three.data(), three.size(), 0) == 0) return closed;
  for (int fd = 0; fd < 3; ++fd) {
    if (::fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    closed.at(static_cast<std::size_t>(fd)) = true;
    // open gives the lowest free number: this one.
    if (::open("/dev/null", O_RDWR | O_CLOEXEC) < 0) ::_exit(1);
  }
  return closed;
}

Fd open_for_reading(const std::string& path) noexcept {
  // O_NONBLOCK: a FIFO where a regular file is expected must not hang the open.
  return Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

ssize_t read_at(int fd, std::span<char> buffer, std::uint64_t offset) noexcept {
  return retried(
      [&] { return ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(offset)); });
}

std::string_view text_at_start(const Fd& file, std::span<char> buffer) noexcept {
  const ssize_t count = file ? read_at_start(file.get(), buffer) : -1;
  return {buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

ssize_t read_pieces(int fd, std::span<char> buffer, std::uint64_t offset) noexcept {
  std::size_t done = 0;
  while (done < buffer.size()) {
    const ssize_t count = read_at(fd, buffer.subspan(done), offset + done);
    if (count < 0) return -1;
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return static_cast<ssize_t>(done);
}

int write_all(int fd, std::span<const char> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      // A terminal or pipe whose other end made it non-blocking.
      pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
      if (::poll(&ready, 1, -1) < 0 && errno != EINTR) return errno;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace wattle
