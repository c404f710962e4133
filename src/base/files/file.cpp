#include "base/files/file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/files/fd.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"

namespace wattle {
namespace {

struct Close {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, Close>;

}  // namespace

std::optional<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const Fd fd = open_for_reading(path);
  if (!fd) return std::nullopt;
  std::string content;
  std::array<char, 8192> chunk;
  while (content.size() < max_bytes) {
    const ssize_t count = retried([&] { return ::read(fd.get(), chunk.data(), chunk.size()); });
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    content.append(chunk.data(),
                   std::min(static_cast<std::size_t>(count), max_bytes - content.size()));
  }
  return content;
}

std::optional<std::string> read_line(const std::string& path) {
  std::array<char, 4096> text;  // sysfs attributes are one page at most, and come in one read
  const Fd fd = open_for_reading(path);
  const ssize_t count = fd ? read_at_start(fd.get(), text) : -1;
  if (count < 0) return std::nullopt;
  std::string_view rest(text.data(), static_cast<std::size_t>(count));
  const std::string_view line = trimmed(take_line(rest), " \t\r\n");
  if (!line.empty()) return std::string(line);
  errno = 0;
  return std::nullopt;
}

std::string path_with_mode(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return path;
  return fmt::format("{}: mode {:04o}, owner {}", path, status.st_mode & 07777U, status.st_uid);
}

std::vector<int> numeric_entries(int parent, const char* name, std::size_t most) {
  std::vector<int> numbers;
  Fd fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const Folder folder(fd ? ::fdopendir(fd.get()) : nullptr);
  if (!folder) return numbers;
  (void)fd.release();
  while (numbers.size() < most) {
    const dirent* const entry = ::readdir(folder.get());  // NOLINT(concurrency-mt-unsafe): its own
    if (entry == nullptr) break;
    const auto number = parse_unsigned<unsigned>(static_cast<const char*>(entry->d_name));
    if (number && std::in_range<int>(*number)) numbers.push_back(static_cast<int>(*number));
  }
  return numbers;
}

FolderListing list_folder(const std::string& path) {
  const Folder folder(::opendir(path.c_str()));
  if (!folder) return {.error = errno};
  FolderListing listing;
  for (;;) {
    errno = 0;                                            // else the end looks like a failure
    const dirent* const entry = ::readdir(folder.get());  // NOLINT(concurrency-mt-unsafe): its own
    if (entry == nullptr) break;
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != "..") listing.names.emplace_back(name);
  }
  listing.error = errno;
  std::ranges::sort(listing.names);
  return listing;
}

}  // namespace wattle
