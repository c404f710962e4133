#include "base/files/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace wattle {
namespace {

std::string text_of_error(int error) { return std::generic_category().message(error); }

bool is_null_device(const struct stat& status) noexcept {
  return S_ISCHR(status.st_mode) && major(status.st_rdev) == 1 && minor(status.st_rdev) == 3;
}

/// Why such a file is not read; empty for one that is.
std::string why_refused(const struct stat& status, bool is_stdin) {
  if (S_ISDIR(status.st_mode)) return "it is a folder";
  if (S_ISSOCK(status.st_mode)) return "it is a socket";
  if (S_ISBLK(status.st_mode)) return "it is a device";
  if (!S_ISCHR(status.st_mode) || is_null_device(status)) return {};
  return is_stdin && ::isatty(STDIN_FILENO) != 0 ? "" : "it is a device";
}

}  // namespace

InputFile open_input(const std::string& path) {
  const std::string name = path == "-" ? "/dev/stdin" : path;
  struct stat status {};
  if (::stat(name.c_str(), &status) != 0) return {.file = {}, .problem = text_of_error(errno)};
  if (std::string problem = why_refused(status, name == "/dev/stdin"); !problem.empty()) {
    return {.file = {}, .problem = std::move(problem)};
  }
  Fd file = open_for_reading(name);
  if (!file) return {.file = {}, .problem = text_of_error(errno)};
  // A pipe without a writer did not hold up the opening; its reader waits for what is written.
  const int flags = ::fcntl(file.get(), F_GETFL);
  const bool can_wait = S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode);
  if (can_wait && flags >= 0) {
    (void)::fcntl(file.get(), F_SETFL, flags & ~O_NONBLOCK);
  }
  return {.file = std::move(file), .problem = {}};
}

std::optional<std::string> read_rest(const Fd& file, std::size_t max_bytes) {
  constexpr std::size_t kChunk = std::size_t{64} << 10U;
  std::string content;
  while (content.size() < max_bytes) {
    const std::size_t before = content.size();
    content.resize(before + std::min(kChunk, max_bytes - before));
    const ssize_t count = retried(
        [&] { return ::read(file.get(), content.data() + before, content.size() - before); });
    if (count < 0) return std::nullopt;
    content.resize(before + static_cast<std::size_t>(count));
    if (count == 0) break;
  }
  return content;
}

}  // namespace wattle
