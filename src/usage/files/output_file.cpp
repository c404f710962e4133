#include "usage/files/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/files/appended_file.hpp"
#include "base/files/whole_file.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

std::pair<dev_t, ino_t> id_of(const struct stat& status) noexcept {
  return {status.st_dev, status.st_ino};
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& path, bool overwrite, std::string_view what)
    : path_(path.string()),
      fd_(open_to_append(path_, overwrite ? Existing::keep : Existing::refuse, kModeForOwner)) {
  if (!fd_ && errno == EEXIST) {
    throw InvalidArgument(
        fmt::format("cannot make the {} {}: it exists; choose another name, or allow "
                    "to overwrite it",
                    what, printable(path_)));
  }
  if (!fd_) throw WriteError(path_, errno);
  struct stat status {};
  is_regular_ = ::fstat(fd_.get(), &status) == 0 && S_ISREG(status.st_mode);
  id_ = id_of(status);
  was_made_ = is_regular_ && !overwrite;
  if (is_regular_) place_ = resolved_output_path(path_);
}

OutputFile::~OutputFile() {
  if (was_made_ && !is_kept_) remove();
}

void OutputFile::clear() {
  if (is_regular_ && ::ftruncate(fd_.get(), 0) != 0) throw WriteError(path_, errno);
}

bool OutputFile::is(const OutputFile& other) const noexcept {
  return is_regular_ && other.is_regular_ && id_ == other.id_;
}

bool OutputFile::is_in_its_place() const noexcept {
  struct stat status {};
  return ::stat(place_.c_str(), &status) == 0 && id_of(status) == id_;
}

int OutputFile::append(std::string_view text) noexcept {
  struct stat status {};
  const bool is_known = is_regular_ && ::fstat(fd_.get(), &status) == 0;
  const bool was_removed = is_known && status.st_nlink == 0;
  const int error = was_removed ? ENOENT : write_all_quietly(fd_.get(), text);
  if (error != 0) {
    // Half a row would be a wrong row.
    if (is_known) [[maybe_unused]]
      const int failed = ::ftruncate(fd_.get(), status.st_size);
    fd_.reset();
  }
  bytes_ += text.size();
  return error;
}

int OutputFile::replace_with(std::string_view text) {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) return errno;
  if (!is_in_its_place()) return EEXIST;
  NewFile next = put_in_place(place_, text, kModeForOwner);
  if (!next.fd) return next.error;
  if (::fstat(next.fd.get(), &status) != 0) return errno;
  fd_ = std::move(next.fd);
  id_ = id_of(status);
  bytes_ = text.size();
  return 0;
}

void OutputFile::remove() noexcept {
  fd_.reset();
  if (is_regular_ && is_in_its_place()) ::unlink(place_.c_str());
  was_made_ = false;
}

}  // namespace wattle
