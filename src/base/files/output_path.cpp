#include "base/files/output_path.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace wattle {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

/// The kernel's rule with fs.protected_symlinks: followed are our own links and those of the
/// folder's owner.
bool is_foreign(const struct stat& link, const fs::path& folder) noexcept {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return false;
  constexpr mode_t kShared = S_ISVTX | S_IWOTH;
  return (status.st_mode & kShared) == kShared && link.st_uid != ::geteuid() &&
         link.st_uid != status.st_uid;
}

bool is_link(const fs::path& path, struct stat& status) noexcept {
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

}  // namespace

OutputPlace find_output(const std::string& path) {
  if (path.empty()) return {};
  constexpr int kMostLinks = 40;  // as the kernel
  fs::path file = path;
  struct stat link {};
  for (int i = 0; i < kMostLinks && is_link(file, link); ++i) {
    const fs::path folder = folder_of(file);
    if (is_foreign(link, folder)) return {.path = file.string(), .error = EACCES};
    std::error_code error;
    const fs::path target = fs::read_symlink(file, error);
    if (error) return {.path = file.string(), .error = error.value()};
    fs::path next = target.is_absolute() ? target : folder / target;
    // "pipe:[77]": no path, though the link leads somewhere.
    struct stat status {};
    if (::stat(file.c_str(), &status) == 0 && ::lstat(next.c_str(), &status) != 0) break;
    file = std::move(next);
  }
  std::error_code error;
  const fs::path folder = fs::canonical(folder_of(file), error);
  return {.path = error ? path : (folder / file.filename()).string()};
}

Fd open_output(const std::string& path, int flags, mode_t mode) {
  const OutputPlace place = find_output(path);
  if (place.error != 0) {
    errno = place.error;
    return {};
  }
  // A link that was made since is not followed.
  struct stat status {};
  const int follow = is_link(place.path, status) ? 0 : O_NOFOLLOW;
  Fd fd(::open(place.path.c_str(), flags | follow | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, mode));
  if (fd && (flags & O_NONBLOCK) == 0) {
    ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
  }
  return fd;
}

}  // namespace wattle
