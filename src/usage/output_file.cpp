#include "usage/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/appending.hpp"
#include "base/text.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

int write_quietly(const Fd& fd, std::string_view text) noexcept {
  const NoWriteSignals guard;
  return write_all(fd.get(), text);
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& path, bool overwrite, std::string_view what)
    : path_(path.string()),
      fd_(open_to_append(path_, overwrite ? Existing::empty : Existing::refuse)) {
  if (!fd_ && errno == EEXIST) {
    throw InvalidArgument(
        fmt::format("cannot make the {} {}: it exists; take another name, or say "
                    "that it is to be overwritten",
                    what, printable(path_)));
  }
  if (!fd_) throw WriteError(path_, errno);
  struct stat status {};
  is_regular_ = ::fstat(fd_.get(), &status) == 0 && S_ISREG(status.st_mode);
}

bool OutputFile::is(const OutputFile& other) const noexcept {
  struct stat mine {};
  struct stat its {};
  return fd_ && other.fd_ && is_regular_ && ::fstat(fd_.get(), &mine) == 0 &&
         ::fstat(other.fd_.get(), &its) == 0 && mine.st_dev == its.st_dev &&
         mine.st_ino == its.st_ino;
}

int OutputFile::append(std::string_view text) noexcept {
  struct stat status {};
  const bool was_removed = is_regular_ && ::fstat(fd_.get(), &status) == 0 && status.st_nlink == 0;
  const int error = was_removed ? ENOENT : write_quietly(fd_, text);
  if (error != 0) fd_.reset();
  bytes_ += text.size();
  return error;
}

int OutputFile::begin_anew(std::string_view text) {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) return errno;
  // A name that nobody has: whatever else is in the folder stays as it is.
  std::string next = path_ + ".XXXXXX";
  Fd fd(::mkostemp(next.data(), O_APPEND | O_CLOEXEC));
  if (!fd) return errno;
  const int error = [&] {
    if (::fchmod(fd.get(), status.st_mode & 07777U) != 0) return errno;
    if (const int failure = write_quietly(fd, text); failure != 0) return failure;
    return ::rename(next.c_str(), path_.c_str()) != 0 ? errno : 0;
  }();
  if (error != 0) {
    ::unlink(next.c_str());
    return error;
  }
  fd_ = std::move(fd);
  bytes_ = text.size();
  return 0;
}

void OutputFile::remove() noexcept {
  fd_.reset();
  if (is_regular_) ::unlink(path_.c_str());
}

}  // namespace wattle
