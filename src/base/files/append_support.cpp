#include "base/files/append_support.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace wattle {

Fd open_to_append(const std::string& path, Existing existing, mode_t mode) {
  struct stat status {};
  const bool special = ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  // A pipe opened for reading too would never report that its reader is gone.
  int access = special ? O_WRONLY : O_RDWR | O_CREAT;
  if (!special && existing == Existing::empty) access |= O_TRUNC;
  if (!special && existing == Existing::refuse) access |= O_EXCL;
  return open_output(path, access | O_APPEND, mode);
}

bool lock_file(int fd, std::chrono::milliseconds patience) noexcept {
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 1'000'000};
  for (; patience.count() > 0; --patience) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return true;  // a file system without locks
    ::nanosleep(&kPause, nullptr);
  }
  errno = EWOULDBLOCK;
  return false;
}

void unlock_file(int fd) noexcept { ::flock(fd, LOCK_UN); }

int close_copy(int fd) noexcept {
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  return copy >= 0 && ::close(copy) != 0 && errno != EINTR ? errno : 0;
}

NoWriteSignals::NoWriteSignals() noexcept {
  sigset_t pending;
  ::sigpending(&pending);
  sigset_t both;
  ::sigemptyset(&both);
  ::sigemptyset(&ours_);
  for (const int signal : {SIGXFSZ, SIGPIPE}) {
    ::sigaddset(&both, signal);
    if (::sigismember(&pending, signal) != 1) ::sigaddset(&ours_, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &both, &before_);
}

NoWriteSignals::~NoWriteSignals() {
  const timespec at_once{};
  while (::sigtimedwait(&ours_, nullptr, &at_once) >= 0 || errno == EINTR) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int write_all_quietly(int fd, std::string_view text) noexcept {
  const NoWriteSignals guard;
  return write_all(fd, text);
}

}  // namespace wattle
