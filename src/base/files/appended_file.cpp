#include "base/files/appended_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "base/text/piece.hpp"
#include "wattle/error.hpp"

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

AppendedFile::AppendedFile(std::string path) : path_(std::move(path)), fd_(open_to_append(path_)) {
  struct stat status {};
  if (!fd_ || ::fstat(fd_.get(), &status) != 0) fail(errno);
  regular_ = S_ISREG(status.st_mode);
  if (!regular_) return;
  // Until the descriptor is closed; a million rows take others about two seconds.
  if (!lock_file(fd_.get(), std::chrono::minutes(1))) fail(EWOULDBLOCK);
  // Again: another process may have appended while we waited.
  if (::fstat(fd_.get(), &status) != 0) fail(errno);
  size_before_ = static_cast<std::uint64_t>(status.st_size);
}

AppendedFile::~AppendedFile() {
  if (!regular_ || committed_) return;
  // If that fails too, nothing more can be done; the earlier failure is being reported.
  [[maybe_unused]] const int ignored = ::ftruncate(fd_.get(), static_cast<off_t>(size_before_));
}

std::string AppendedFile::read(std::uint64_t offset, std::size_t count) const {
  const std::uint64_t left = size_before_ - std::min(offset, size_before_);
  std::string bytes(std::min<std::uint64_t>(count, left), '\0');
  const ssize_t got = read_pieces(fd_.get(), bytes, offset);
  if (got < 0) fail(errno);
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

void AppendedFile::write(std::string_view bytes) {
  kept_back_ += bytes;
  if (kept_back_.size() >= kPieceBytes) flush();
}

void AppendedFile::commit() {
  flush();
  // Until then the written bytes can be taken back.
  if (const int error = close_copy(fd_.get()); error != 0) fail(error);
  committed_ = true;
}

void AppendedFile::flush() {
  if (const int error = write_all_quietly(fd_.get(), kept_back_); error != 0) fail(error);
  kept_back_.clear();
}

void AppendedFile::fail(int error_number) const { throw WriteError(path_, error_number); }

}  // namespace wattle
