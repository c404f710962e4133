#include "runs/history/history_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "base/files/fd.hpp"
#include "base/files/state_folder.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

// https://www.sqlite.org/fileformat.html#the_database_header
constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kMarkOffset = 68;
constexpr std::size_t kHeaderBytes = 100;

int big_endian(const char* bytes) noexcept {
  std::uint32_t number = 0;
  for (int i = 0; i < 4; ++i) number = number << 8U | static_cast<unsigned char>(bytes[i]);
  return static_cast<int>(number);
}

}  // namespace

HistoryFileKind kind_of_history_file(const std::filesystem::path& path) {
  const Fd file = open_for_reading(path.string());
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return HistoryFileKind::missing;
  struct stat status {};
  if (file && ::fstat(file.get(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw Error("the history " + printable(path.string()) +
                " is no regular file; name another (WATTLE_HISTORY)");
  }
  std::array<char, kHeaderBytes> header{};
  const ssize_t count = file ? read_at_start(file.get(), header) : -1;
  if (count < 0) {
    throw Error("cannot read the history " + printable(path.string()) + ": " +
                std::generic_category().message(errno));
  }
  if (count == 0) return HistoryFileKind::empty;
  const bool is_history = count == static_cast<ssize_t>(kHeaderBytes) &&
                          std::string_view(header.data(), kMagic.size()) == kMagic &&
                          big_endian(header.data() + kMarkOffset) == kHistoryMark;
  return is_history ? HistoryFileKind::history : HistoryFileKind::foreign;
}

std::string why_not_own(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  const std::string name = printable(path.string());
  if (status.st_uid != ::geteuid()) {
    return fmt::format(
        "{} belongs to another user (uid {}), and records hold command lines; name "
        "another file (WATTLE_HISTORY)",
        name, status.st_uid);
  }
  // A group may be the user's alone; files are made for their owner, whatever the umask is.
  const mode_t others = S_ISDIR(status.st_mode) ? S_IWOTH : S_IWGRP | S_IWOTH;
  if ((status.st_mode & others) == 0) return {};
  return fmt::format("other users may write to {} (mode {:04o}); take that away: chmod go-w {}",
                     name, status.st_mode & 07777U, shell_quoted(path.string()));
}

std::string why_not_own_history(const std::filesystem::path& path) {
  if (std::string why = why_not_own(path); !why.empty()) return why;
  std::error_code none;
  // SQLite follows links, and so its files lie beside the one that they lead to.
  const std::filesystem::path file = std::filesystem::weakly_canonical(path, none);
  struct stat folder {};
  const bool is_shared = ::stat(file.parent_path().c_str(), &folder) == 0 &&
                         (folder.st_mode & S_IWOTH) != 0 && (folder.st_mode & S_ISVTX) == 0;
  if (is_shared) return why_not_own(file.parent_path());
  for (const std::string_view end : {"-wal", "-shm", "-journal"}) {
    if (std::string why = why_not_own(file.string() + std::string(end)); !why.empty()) return why;
  }
  return {};
}

std::filesystem::path nearest_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::absolute(path, error).parent_path();
  while (folder.has_relative_path() && !std::filesystem::exists(folder, error)) {
    folder = folder.parent_path();
  }
  return folder;
}

bool is_on_this_machine(const std::filesystem::path& path) {
  return !is_on_network(nearest_folder(path));
}

}  // namespace wattle
