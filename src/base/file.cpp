#include "base/file.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "base/fd.hpp"

namespace wattle {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

}  // namespace

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
  std::string_view line = take_line(rest);
  const std::size_t begin = line.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) {
    errno = 0;
    return std::nullopt;
  }
  return std::string(line.substr(begin, line.find_last_not_of(kBlanks) - begin + 1));
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

std::string_view take_line(std::string_view& text) noexcept {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view take_word(std::string_view& text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

}  // namespace wattle
