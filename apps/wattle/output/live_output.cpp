#include "output/live_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "output/output.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

bool is_a(int fd, mode_t kind) noexcept {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == kind;
}

/// Makes the writes to a pipe or a terminal return at once: a terminal that is stopped takes
/// nothing. It opens the pipe again, so that other holders of the descriptor notice nothing. If
/// that fails, returns `fd` unchanged.
Fd without_waiting(Fd fd) {
  if (!is_a(fd.get(), S_IFIFO) && ::isatty(fd.get()) != 1) return fd;
  const std::string path = fmt::format("/proc/self/fd/{}", fd.get());
  Fd own(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  return own ? std::move(own) : std::move(fd);
}

/// Writes what there is room for; as write(2), with EAGAIN for none.
ssize_t write_some(int fd, std::string_view text, bool is_socket) noexcept {
  if (is_socket) return ::send(fd, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
  if (::poll(&ready, 1, 0) == 0) {
    errno = EAGAIN;
    return -1;
  }
  // A pipe that can be written to has room for at least PIPE_BUF bytes.
  return ::write(fd, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
}

}  // namespace

LiveOutput::LiveOutput(Fd fd, std::string name)
    : fd_(without_waiting(std::move(fd))),
      name_(std::move(name)),
      is_socket_(is_a(fd_.get(), S_IFSOCK)) {}

LiveOutput LiveOutput::of_stdout() {
  try {
    return {open_stdout(), "stdout"};
  } catch (const InvalidArgument&) {
    // Here stdout is all that was asked for: this is no wrong option, but a failed write.
    throw WriteError("stdout", EBADF);
  }
}

LiveOutput LiveOutput::of_stderr() {
  constexpr int kFirst = 3;
  return {Fd(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, kFirst)), "stderr"};
}

bool LiveOutput::put(std::string_view text) { return put_safe(safe_for(fd_.get(), text)); }

bool LiveOutput::put(const Redrawn& text) {
  return put_safe(text.movement + safe_for(fd_.get(), text.text));
}

bool LiveOutput::put(std::span<const Redrawn> texts) {
  std::string all;
  for (const Redrawn& text : texts) all += text.movement + safe_for(fd_.get(), text.text);
  return put_safe(std::move(all));
}

bool LiveOutput::put_safe(std::string text) {
  flush();
  if (over_ || has_rest() || text.empty()) return !over_ && !has_rest();
  const std::size_t size = text.size();
  rest_ = std::move(text);
  flush();
  const bool is_taken = !over_ && rest_.size() < size;
  if (!is_taken) rest_.clear();
  return is_taken;
}

void LiveOutput::flush() {
  while (!over_ && has_rest()) {
    const ssize_t count = write_some(fd_.get(), rest_, is_socket_);
    if (count >= 0) {
      rest_.erase(0, static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      return;
    } else if (errno == EPIPE) {
      over_ = true;
    } else if (errno != EINTR) {
      throw WriteError(name_, errno);
    }
  }
}

void LiveOutput::close() {
  if (::close(fd_.release()) != 0 && errno != EINTR) throw WriteError(name_, errno);
}

}  // namespace wattle::app
