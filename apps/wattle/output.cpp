#include "output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/output_path.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

/// Which of 0 to 2 were closed when the program began.
std::array<bool, 3>& closed_at_start() noexcept {
  static std::array<bool, 3> closed{};
  return closed;
}

}  // namespace

void hold_standard_descriptors() noexcept {
  closed_at_start() = wattle::hold_standard_descriptors();
}

Fd open_for_writing(const std::string& path, bool append, int flags, mode_t mode) {
  flags |= O_WRONLY | O_CREAT | (append ? O_APPEND : O_TRUNC);
  Fd fd = open_output(path, flags, mode);
  if (!fd) throw WriteError(path, errno);
  return fd;
}

bool is_same_file(const Fd& a, const Fd& b) noexcept {
  struct stat one {};
  struct stat other {};
  return ::fstat(a.get(), &one) == 0 && ::fstat(b.get(), &other) == 0 && S_ISREG(one.st_mode) &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

Output Output::open(const std::string& path, bool append) {
  if (path == "-") {
    if (closed_at_start().at(STDOUT_FILENO)) {
      throw InvalidArgument("cannot write the report to stdout: it is closed");
    }
    Fd copy(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!copy) throw WriteError("stdout", errno);
    return {"stdout", std::move(copy)};
  }
  return {path, open_for_writing(path, append)};
}

void Output::write(std::string_view text) {
  int error = write_all(fd_.get(), text);
  // Some file systems tell only now that there is no room.
  if (::close(fd_.release()) != 0 && error == 0 && errno != EINTR) error = errno;
  if (error != 0) throw WriteError(path_, error);
}

void write_to_stderr(std::string_view text) noexcept { (void)write_all(STDERR_FILENO, text); }

}  // namespace wattle::app
