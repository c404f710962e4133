#include "energy/handlers/appended_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include "energy/handlers/piece.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

Fd open_to_append(const std::string& path) noexcept {
  struct stat status {};
  const bool special = ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  // A pipe opened for reading too would never tell that its reader is gone.
  const int access = special ? O_WRONLY : O_RDWR | O_CREAT;
  constexpr mode_t kForAll = 0666;  // less the user's umask
  return Fd(::open(path.c_str(), access | O_APPEND | O_CLOEXEC | O_NOCTTY, kForAll));
}

/// While it lives, a file that would grow beyond this process's limit (RLIMIT_FSIZE) and a pipe
/// whose reader has gone are errors of the writing thread's `write`, not the end of the process.
class NoWriteSignals {
 public:
  NoWriteSignals() noexcept {
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
  ~NoWriteSignals() {
    const timespec at_once{};
    while (::sigtimedwait(&ours_, nullptr, &at_once) >= 0 || errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoWriteSignals(const NoWriteSignals&) = delete;
  NoWriteSignals& operator=(const NoWriteSignals&) = delete;

 private:
  sigset_t ours_{};  ///< those that nobody sent before
  sigset_t before_{};
};

}  // namespace

AppendedFile::AppendedFile(std::string path) : path_(std::move(path)), fd_(open_to_append(path_)) {
  struct stat status {};
  if (!fd_ || ::fstat(fd_.get(), &status) != 0) fail(errno);
  regular_ = S_ISREG(status.st_mode);
  if (!regular_) return;
  // Some file systems have no locks. The lock goes with the descriptor.
  while (::flock(fd_.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  // Again: another process may have appended while we waited.
  if (::fstat(fd_.get(), &status) != 0) fail(errno);
  size_before_ = static_cast<std::uint64_t>(status.st_size);
}

AppendedFile::~AppendedFile() {
  if (!regular_ || committed_) return;
  // Where even that fails nothing more can be done; the failure before it is being told.
  [[maybe_unused]] const int ignored = ::ftruncate(fd_.get(), static_cast<off_t>(size_before_));
}

std::string AppendedFile::read(std::uint64_t offset, std::size_t count) const {
  const std::uint64_t left = size_before_ - std::min(offset, size_before_);
  std::string bytes(std::min<std::uint64_t>(count, left), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::pread(fd_.get(), bytes.data() + done, bytes.size() - done,
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

void AppendedFile::write(std::string_view bytes) {
  kept_back_ += bytes;
  if (kept_back_.size() >= kPieceBytes) flush();
}

void AppendedFile::commit() {
  flush();
  // What a file system only finds out when a file is closed (NFS, quotas) it says at the closing
  // of any of its descriptors: of a copy, so that what was written can still be taken back.
  const int copy = ::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0);
  if (copy >= 0 && ::close(copy) != 0 && errno != EINTR) fail(errno);
  committed_ = true;
}

void AppendedFile::flush() {
  const NoWriteSignals guard;
  if (const int error = write_all(fd_.get(), kept_back_); error != 0) fail(error);
  kept_back_.clear();
}

void AppendedFile::fail(int error_number) const { throw WriteError(path_, error_number); }

}  // namespace wattle
