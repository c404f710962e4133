#include "base/files/appended_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/files/append_support.hpp"
#include "base/text/piece.hpp"
#include "wattle/error.hpp"

namespace wattle {

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
