#include "base/file.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "base/fd.hpp"
#include "base/split.hpp"

namespace wattle {
std::optional<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const Fd fd = open_for_reading(path);
  if (!fd) return std::nullopt;
  std::string content;
  std::array<char, 8192> chunk;
  while (content.size() < max_bytes) {
    const ssize_t count = ::read(fd.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
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

FolderListing list_folder(const std::string& path) {
  struct Close {
    void operator()(DIR* folder) const noexcept { ::closedir(folder); }
  };
  const std::unique_ptr<DIR, Close> folder(::opendir(path.c_str()));
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
  return listing;
}

}  // namespace wattle
