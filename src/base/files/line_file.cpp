#include "base/files/line_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/files/appended_file.hpp"
#include "base/text/piece.hpp"
#include "base/text/split.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

/// Writing a line is quick: a process that keeps the lock for this long is stuck or stopped.
constexpr std::chrono::milliseconds kPatience{1000};

/// Holds the file's lock.
class FileLock {
 public:
  /// Throws `WriteError` where somebody else does not let go of it.
  FileLock(int fd, bool regular, const std::string& path) : fd_(regular ? fd : -1) {
    if (regular && !lock_file(fd, kPatience)) throw WriteError(path, EWOULDBLOCK);
  }
  ~FileLock() {
    if (fd_ >= 0) unlock_file(fd_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_;
};

}  // namespace

LineFile::LineFile(std::filesystem::path path, std::string first_bytes, std::string header,
                   std::vector<std::string> to_be_cleared, mode_t mode)
    : path_(std::move(path).string()),
      first_bytes_(std::move(first_bytes)),
      header_(std::move(header)),
      to_be_cleared_(std::move(to_be_cleared)),
      mode_(mode) {
  open();
  to_be_cleared_.clear();  // a file that is made again is ours
}

bool LineFile::keeps_room(std::uint64_t size, std::uint64_t end) noexcept {
  constexpr std::uint64_t kStep = std::uint64_t{16} << 10U;
  const std::uint64_t wanted = end + reserve_;
  if (wanted <= reserved_end_) return true;
  for (const std::uint64_t more : {kStep, std::uint64_t{0}}) {
    const std::uint64_t length = wanted + more - size;
    if (::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(size),
                    static_cast<off_t>(length)) == 0) {
      reserved_end_ = size + length;
      return true;
    }
  }
  return errno != ENOSPC && errno != EDQUOT;
}

void LineFile::add(std::string_view lines, Room room) {
  if (was_deleted()) {
    fd_ = {};
    reserved_end_ = 0;
    open();
  }
  const FileLock turn(fd_.get(), regular_, path_);
  const std::uint64_t size = regular_ ? repair(size_now()) : 0;
  begin_ = std::min(begin_, size);  // somebody else may have emptied it
  const bool is_first = regular_ ? size == 0 : is_new_;
  const std::string with_header =
      is_first && !header_.empty() ? header_ + std::string(lines) : std::string();
  const std::string_view text = with_header.empty() ? lines : with_header;
  const NoWriteSignals guard;
  if (regular_ && reserve_ > 0 && room == Room::free && !keeps_room(size, size + text.size())) {
    fail(ENOSPC);
  }
  const int error = write_all(fd_.get(), text);
  if (error == 0) {
    end_ = size + text.size();
    is_new_ = false;
    return;
  }
  // Where even that fails, who adds to the file next takes away what has no line end.
  if (regular_) {
    [[maybe_unused]] const int ignored = ::ftruncate(fd_.get(), static_cast<off_t>(size));
  }
  fail(error);
}

void LineFile::clear() {
  if (!regular_) return;
  const FileLock turn(fd_.get(), regular_, path_);
  if (::ftruncate(fd_.get(), 0) != 0) fail(errno);
  begin_ = end_ = 0;
}

void LineFile::sync() {
  if (regular_ && ::fdatasync(fd_.get()) != 0) fail(errno);
}

int LineFile::open_in_folder() {
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) return error.value();
  fd_ = open_to_append(path_, Existing::keep, mode_);
  return fd_ ? 0 : errno;
}

void LineFile::open() {
  // Again where somebody removed the folder before the file was in it.
  int attempts_left = 100;
  int error = open_in_folder();
  while (error == ENOENT && --attempts_left > 0) error = open_in_folder();
  struct stat status {};
  if (error == 0 && ::fstat(fd_.get(), &status) != 0) error = errno;
  if (error != 0) fail(error);
  regular_ = S_ISREG(status.st_mode);
  is_new_ = !regular_;
  begin_ = end_ = 0;
  if (!regular_) return;
  try {
    check_and_repair();
  } catch (...) {
    fd_ = {};  // it is not ours to add to, now or later
    throw;
  }
}

void LineFile::check_and_repair() {
  const FileLock turn(fd_.get(), regular_, path_);
  const std::uint64_t size = size_now();
  if (size == 0) return;
  std::string begin(std::max<std::size_t>(first_bytes_.size(), 80), '\0');
  const ssize_t got = read_at_start(fd_.get(), begin);
  if (got < 0) fail(errno);
  begin.resize(static_cast<std::size_t>(got));
  const auto is_begin = [&](const std::string& other) { return begin.starts_with(other); };
  if (std::ranges::any_of(to_be_cleared_, is_begin)) {
    begin_ = end_ = size;
    return;
  }
  if (!begins_as_it_should(begin)) {
    std::string_view rest = begin;
    std::string expected = first_bytes_;
    std::ranges::replace(expected, kDigit, '0');
    throw FormatError(path_, std::string(take_line(rest)), expected);
  }
  begin_ = repair(size);
}

std::uint64_t LineFile::size_now() const {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) fail(errno);
  return static_cast<std::uint64_t>(status.st_size);
}

std::uint64_t LineFile::repair(std::uint64_t size) {
  // Unless nothing was added since, or a whole line was: a writer was killed in a line.
  if (size != end_ && size > 0 && !ends_with_a_line(size)) {
    size = end_of_last_line(size);
    if (::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0) fail(errno);
  }
  return end_ = size;
}

bool LineFile::ends_with_a_line(std::uint64_t size) const {
  char last = '\0';
  if (read_at(fd_.get(), {&last, 1}, size - 1) < 0) fail(errno);
  return last == '\n';
}

std::uint64_t LineFile::end_of_last_line(std::uint64_t size) const {
  std::array<char, kPieceBytes> piece;
  std::uint64_t end = size;
  while (end > 0) {
    const std::uint64_t begin = end - std::min<std::uint64_t>(end, piece.size());
    const ssize_t got = read_at(fd_.get(), {piece.data(), end - begin}, begin);
    if (got < 0) fail(errno);
    const std::string_view text(piece.data(), static_cast<std::size_t>(got));
    const std::size_t line_end = text.rfind('\n');
    if (line_end != std::string_view::npos) return begin + line_end + 1;
    end = begin;
  }
  return 0;
}

/// A file may hold no more than the start of its first line.
bool LineFile::begins_as_it_should(std::string_view begin) const noexcept {
  const std::size_t length = std::min(begin.size(), first_bytes_.size());
  return std::equal(
      begin.begin(), begin.begin() + static_cast<std::ptrdiff_t>(length), first_bytes_.begin(),
      [](char is, char should_be) { return should_be == kDigit ? is_digit(is) : is == should_be; });
}

bool LineFile::was_deleted() const noexcept {
  struct stat status {};
  return !fd_ || (regular_ && ::fstat(fd_.get(), &status) == 0 && status.st_nlink == 0);
}

void LineFile::fail(int error_number) const { throw WriteError(path_, error_number); }

}  // namespace wattle
