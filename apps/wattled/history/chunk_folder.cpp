#include "history/chunk_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "history/chunk_format.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

constexpr std::string_view kNameStart = "wattled-";
constexpr std::string_view kNameEnd = ".chunk";
constexpr std::size_t kTimeDigits = 13;
/// "wattled-1763690000123-0123456789abcdef-000001.chunk"
constexpr std::size_t kNameLength = 8 + kTimeDigits + 1 + 16 + 1 + 6 + 6;
constexpr const char* kLockName = "lock";
constexpr mode_t kOwnFile = 0600;

[[noreturn]] void refuse_folder(const std::string& path, std::string_view why,
                                std::string_view remedy) {
  throw Error(fmt::format("cannot keep the history in {}: {}; {}", printable(path), why, remedy));
}

constexpr std::string_view kOtherFolder = "name another folder with --history-dir";

std::string message_of(int error) { return std::generic_category().message(error); }

/// The time in the name of a chunk; absent: this is not one.
std::optional<TimePoint> time_in(std::string_view name) {
  const bool fits = name.size() == kNameLength && name.starts_with(kNameStart) &&
                    name.ends_with(kNameEnd) && name[kNameStart.size() + kTimeDigits] == '-';
  if (!fits) return std::nullopt;
  const auto ms = parse_unsigned<std::uint64_t>(name.substr(kNameStart.size(), kTimeDigits));
  if (!ms) return std::nullopt;
  return stored_time(static_cast<double>(*ms) / 1e3);
}

Fd open_folder(std::string path) {
  // With one at its end, a link is followed.
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    refuse_folder(path, message_of(errno),
                  "make the folder for the daemon's user, or name another one with --history-dir");
  }
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder) return folder;
  const int error = errno;
  const bool is_other = error == ELOOP || error == ENOTDIR;
  refuse_folder(path, is_other ? "it is a link or a file, not a folder" : message_of(error),
                kOtherFolder);
}

void check_owner(const Fd& folder, const std::string& path) {
  struct stat status {};
  if (::fstat(folder.get(), &status) != 0) refuse_folder(path, message_of(errno), kOtherFolder);
  if (status.st_uid != ::geteuid()) {
    refuse_folder(path, "another user owns it",
                  "run chown for the daemon's user, or name another folder with --history-dir");
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    refuse_folder(path, "other users may write in it", "run 'chmod go-w' on it");
  }
}

Fd lock_in(const Fd& folder, const std::string& path) {
  Fd lock(::openat(folder.get(), kLockName, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                   kOwnFile));
  if (!lock) refuse_folder(path, message_of(errno), kOtherFolder);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  const int error = errno;
  refuse_folder(path, error == EWOULDBLOCK ? "another wattled uses it" : message_of(error),
                kOtherFolder);
}

}  // namespace

std::string chunk_name(TimePoint made, std::uint64_t session, std::uint32_t number) {
  constexpr std::uint32_t kNumbers = 1'000'000;
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(made.time_since_epoch()).count();
  return fmt::format("{}{:013}-{:016x}-{:06}{}", kNameStart, ms, session, number % kNumbers,
                     kNameEnd);
}

bool is_chunk_of(const std::string& name, std::uint64_t session) {
  return time_in(name) && std::string_view(name)
                              .substr(kNameStart.size() + kTimeDigits)
                              .starts_with(fmt::format("-{:016x}-", session));
}

ChunkFolder::ChunkFolder(std::string path) : path_(std::move(path)), folder_(open_folder(path_)) {
  check_owner(folder_, path_);
  lock_ = lock_in(folder_, path_);
}

std::vector<ChunkFile> ChunkFolder::list() const {
  std::vector<ChunkFile> files;
  const int copy = ::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return files;
  const auto close = [](DIR* stream) { ::closedir(stream); };
  const std::unique_ptr<DIR, decltype(close)> stream(::fdopendir(copy), close);
  if (!stream) {
    ::close(copy);
    return files;
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody else has this stream
  while (const dirent* const entry = ::readdir(stream.get())) {
    const std::string name = &entry->d_name[0];
    const auto made = time_in(name);
    struct stat status {};
    const bool is_file =
        made && ::fstatat(folder_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(status.st_mode);
    if (!is_file) continue;
    files.push_back(
        {.name = name, .bytes = static_cast<std::uint64_t>(status.st_size), .made = *made});
  }
  std::ranges::sort(files, {}, &ChunkFile::name);
  return files;
}

bool ChunkFolder::read(const std::string& name, std::string& bytes) const {
  const Fd file(
      ::openat(folder_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return false;
  const auto size = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
  if (!S_ISREG(status.st_mode) || size > kMostChunkBytes) {
    errno = EFBIG;
    return false;
  }
  bytes.resize(size);
  const ssize_t count = read_pieces(file.get(), bytes);
  if (count < 0) return false;
  bytes.resize(static_cast<std::size_t>(count));
  return true;
}

Fd ChunkFolder::make(const std::string& name) const {
  return Fd(::openat(folder_.get(), name.c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, kOwnFile));
}

int ChunkFolder::remove(const std::string& name) const {
  return ::unlinkat(folder_.get(), name.c_str(), 0) == 0 ? 0 : errno;
}

}  // namespace wattle::daemon
