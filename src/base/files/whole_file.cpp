#include "base/files/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/files/appended_file.hpp"
#include "base/files/file.hpp"
#include "base/files/output_path.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

namespace fs = std::filesystem;

/// While a file is overwritten, its old content is kept in memory, if it is shorter.
constexpr std::size_t kMostKept = std::size_t{64} << 20U;

/// A new file in the folder of `place` under a name that nobody has. Its length does not depend on
/// that of the file's own name, which may be as long as a name can be.
struct Unnamed {
  std::string path;
  Fd fd;  ///< none: `errno` says why
};
Unnamed make_beside(const std::string& place, mode_t mode = kModeForAll) {
  static std::atomic<unsigned> number{0};
  constexpr int kTries = 100;  // left by those that were killed under the same process number
  Unnamed file;
  for (int i = 0; i < kTries; ++i) {
    const std::string name = fmt::format(".wattle-{}-{}.tmp", ::getpid(), number++);
    file.path = (fs::path(place).parent_path() / name).string();
    constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOCTTY;
    file.fd = Fd(::open(file.path.c_str(), kNew, mode));
    if (file.fd || errno != EEXIST) break;
  }
  return file;
}

/// The new file gets the mode and, where that is allowed, the owner of the one that it replaces.
int copy_mode_and_owner(const std::string& place, int fd) noexcept {
  struct stat old {};
  if (::stat(place.c_str(), &old) != 0) return errno == ENOENT ? 0 : errno;
  struct stat created {};
  if (::fstat(fd, &created) != 0) return errno;
  if (old.st_uid != created.st_uid || old.st_gid != created.st_gid) {
    [[maybe_unused]] const int only_root_may = ::fchown(fd, old.st_uid, old.st_gid);
  }
  constexpr mode_t kAll = 07777;
  // A process that may change no modes replaces its own files all the same.
  if ((old.st_mode & kAll) == (created.st_mode & kAll)) return 0;
  return ::fchmod(fd, old.st_mode & kAll) != 0 ? errno : 0;
}

/// Reserves room for the bytes, if the file system can reserve. 0, or an `errno`.
int reserve(int fd, std::size_t size) noexcept {
  const auto length = static_cast<off_t>(size);
  if (size == 0 || ::fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, length) == 0) return 0;
  return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? errno : 0;
}

/// Writes `content` over what is there. 0, or an `errno`.
int fill(int fd, std::string_view content) noexcept {
  if (::lseek(fd, 0, SEEK_SET) != 0) return errno;
  if (const int error = write_all(fd, content); error != 0) return error;
  if (::ftruncate(fd, static_cast<off_t>(content.size())) != 0) return errno;
  return close_copy(fd);
}

int fill_and_rename(const Unnamed& file, const std::string& place, std::string_view content) {
  const NoWriteSignals guard;
  if (const int error = copy_mode_and_owner(place, file.fd.get()); error != 0) return error;
  if (const int error = write_all(file.fd.get(), content); error != 0) return error;
  if (const int error = close_copy(file.fd.get()); error != 0) return error;
  return ::rename(file.path.c_str(), place.c_str()) != 0 ? errno : 0;
}

}  // namespace

std::string resolved_output_path(const std::string& path) { return find_output(path).path; }

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat one {};
  struct stat other {};
  const bool is_there = ::stat(a.c_str(), &one) == 0;
  if (is_there && !S_ISREG(one.st_mode)) return false;
  if (is_there && ::stat(b.c_str(), &other) == 0) {
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
  }
  return resolved_output_path(a) == resolved_output_path(b);
}

NewFile put_in_place(const std::string& place, std::string_view content, mode_t mode) {
  Unnamed file = make_beside(place, mode);
  if (!file.fd) return {.fd = {}, .error = errno};
  if (const int error = fill_and_rename(file, place, content); error != 0) {
    ::unlink(file.path.c_str());
    return {.fd = {}, .error = error};
  }
  return {.fd = std::move(file.fd)};
}

WholeFile::WholeFile(std::string path, Mode mode) : path_(std::move(path)), mode_(mode) {
  OutputPlace place = find_output(path_);
  if (place.error != 0) throw WriteError(path_, place.error);
  place_ = std::move(place.path);
  // The old content goes when there is a new one. What may only be appended to says so here.
  fd_ = open_output(place_, O_WRONLY | (mode == Mode::extend ? O_APPEND : 0));
  struct stat status {};
  if (fd_ && ::fstat(fd_.get(), &status) == 0) {
    is_regular_ = S_ISREG(status.st_mode);
    return;
  }
  if (errno != ENOENT) throw WriteError(path_, errno);
  const Unnamed file = make_beside(place_);
  if (!file.fd || ::unlink(file.path.c_str()) != 0) throw WriteError(path_, errno);
}

void WholeFile::write(std::string_view content) {
  int error = 0;
  if (!is_regular_) {
    error = write_all_quietly(fd_.get(), content);
    // Some file systems report only now that there is no room.
    if (::close(fd_.release()) != 0 && error == 0 && errno != EINTR) error = errno;
  } else if (mode_ == Mode::replace) {
    error = replace(content);
  } else {
    AppendedFile file(place_);
    file.write(content);
    file.commit();
  }
  if (error != 0) throw WriteError(path_, error);
}

int WholeFile::replace(std::string_view content) {
  const int error = put_in_place(place_, content).error;
  const bool takes_no_new_file =
      error == EACCES || error == EPERM || error == EROFS || error == EBUSY;
  return takes_no_new_file && fd_ ? overwrite(content) : error;
}

int WholeFile::overwrite(std::string_view content) {
  const std::optional<std::string> old = read_file(place_, kMostKept);
  if (!old) return errno;
  if (old->size() == kMostKept) return EFBIG;
  const NoWriteSignals guard;
  if (const int error = reserve(fd_.get(), content.size()); error != 0) return error;
  const int error = fill(fd_.get(), content);
  if (error != 0) (void)fill(fd_.get(), *old);
  return error;
}

}  // namespace wattle
