#include "run/csv_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "base/files/output_path.hpp"
#include "base/files/whole_file.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

/// As many rows as `most` bytes hold, but at least one.
std::string_view whole_rows(std::string_view rows, std::size_t most) {
  if (rows.size() <= most) return rows;
  std::size_t end = rows.rfind('\n', most - 1);
  if (end == std::string_view::npos) end = rows.find('\n');
  return rows.substr(0, end == std::string_view::npos ? rows.size() : end + 1);
}

}  // namespace

CsvFile::CsvFile(const std::string& path, std::string_view header, bool append)
    : path_(path), fd_(open(path, header, append)) {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) throw WriteError(path, errno);
  is_special_ = !S_ISREG(status.st_mode);
  is_continued_ = append && status.st_size > 0;
  if (status.st_size == 0) add(header);
  if (error_ != 0) throw WriteError(path, error_);
}

Fd CsvFile::open(const std::string& path, std::string_view header, bool append) {
  const OutputPlace place = find_output(path);
  if (place.error != 0) throw WriteError(path, place.error);
  struct stat status {};
  const bool is_special = ::stat(place.path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  if (!append && !is_special) {
    // Who reads the old file, or still writes to it, keeps it.
    NewFile made = put_in_place(place.path, header, kModeForOwner);
    if (made.fd) return std::move(made.fd);
  }
  // A pipe without a reader ends the rows; it must not stop the run.
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | (append ? 0 : O_TRUNC);
  Fd fd = open_output(path, flags, kModeForOwner);
  if (!fd) throw WriteError(path, errno);
  return fd;
}

void CsvFile::add(std::string_view rows) {
  while (error_ == 0 && !rows.empty()) {
    const std::string_view part = is_special_ ? whole_rows(rows, PIPE_BUF) : rows;
    write_whole(part);
    rows.remove_prefix(part.size());
  }
}

/// A pipe takes this much whole, or nothing; its reader may be a moment late.
void CsvFile::write_whole(std::string_view rows) {
  constexpr int kPatienceMs = 100;
  ssize_t written = ::write(fd_.get(), rows.data(), rows.size());
  // Not before: a pipe may have room for a row where poll says that it has none.
  if (written < 0 && errno == EAGAIN) {
    pollfd ready{.fd = fd_.get(), .events = POLLOUT, .revents = 0};
    (void)::poll(&ready, 1, kPatienceMs);
    written = ::write(fd_.get(), rows.data(), rows.size());
  }
  if (written == static_cast<ssize_t>(rows.size())) return;
  error_ = written < 0 ? errno : ENOSPC;
  struct stat status {};
  // Half a row would be a wrong row.
  if (written > 0 && ::fstat(fd_.get(), &status) == 0 && S_ISREG(status.st_mode) &&
      ::ftruncate(fd_.get(), status.st_size - written) != 0) {
    error_ = errno;
  }
}

std::string CsvFile::failure() const {
  if (error_ == EAGAIN) return fmt::format("cannot write {}: its reader is too slow", path_);
  return error_ == 0 ? "" : WriteError(path_, error_).what();
}

}  // namespace wattle::app
