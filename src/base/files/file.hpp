// Reading small files whole: sysfs attributes, procfs tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wattle {

/// Largest file that `read_file` reads by default. /proc/stat of a machine with
/// thousands of processors and interrupts stays under it.
inline constexpr std::size_t kMaxFileBytes = std::size_t{4} << 20U;

/// The content of a file, at most `max_bytes` of it; absent with `errno` set where it cannot be
/// opened or read.
[[nodiscard]] std::optional<std::string> read_file(const std::string& path,
                                                   std::size_t max_bytes = kMaxFileBytes);

/// As `read_file`, for an attribute of one line: without the line end and surrounding blanks.
/// Absent, `errno` 0, where the file is empty.
[[nodiscard]] std::optional<std::string> read_line(const std::string& path);

/// "PATH: mode 0400, owner 0", or the path alone where that is not known.
[[nodiscard]] std::string path_with_mode(const std::string& path);

/// The entries of a folder, in order, without "." and "..".
struct FolderListing {
  std::vector<std::string> names;
  int error = 0;  ///< the `errno` for which not all of them could be read
};
/// Unlike `std::filesystem::directory_iterator`, it may run out of memory: then it throws.
[[nodiscard]] FolderListing list_folder(const std::string& path);

/// The entries of the folder `name` in the folder `parent` (openat) that are numbers: processes,
/// threads, descriptors; at most `most` of them. In no order; empty where it cannot be read.
[[nodiscard]] std::vector<int> numeric_entries(int parent, const char* name,
                                               std::size_t most = SIZE_MAX);

}  // namespace wattle
