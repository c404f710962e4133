#include "base/appending.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <ctime>

namespace wattle {

Fd open_to_append(const std::string& path) noexcept {
  struct stat status {};
  const bool special = ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  // A pipe opened for reading too would never tell that its reader is gone.
  const int access = special ? O_WRONLY : O_RDWR | O_CREAT;
  constexpr mode_t kForAll = 0666;  // less the user's umask
  return Fd(::open(path.c_str(), access | O_APPEND | O_CLOEXEC | O_NOCTTY, kForAll));
}

void lock_file(int fd) noexcept {
  while (::flock(fd, LOCK_EX) != 0 && errno == EINTR) {
  }
}

void unlock_file(int fd) noexcept { ::flock(fd, LOCK_UN); }

NoFileSizeSignal::NoFileSizeSignal() noexcept {
  ::sigemptyset(&signal_);
  ::sigaddset(&signal_, SIGXFSZ);
  sigset_t pending;
  ::sigpending(&pending);
  was_pending_ = ::sigismember(&pending, SIGXFSZ) == 1;
  ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
}

NoFileSizeSignal::~NoFileSizeSignal() {
  const timespec at_once{};
  if (!was_pending_) ::sigtimedwait(&signal_, nullptr, &at_once);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace wattle
