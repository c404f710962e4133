// A file that a user names, to be read to its end.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/files/fd.hpp"

namespace wattle {

/// One of both is there.
struct InputFile {
  Fd file;
  std::string problem;  ///< "it is a folder"
};

/// Opens `path`, or stdin for "-". Folders, sockets and devices are refused: a device may never
/// end, and reading it may change it. /dev/null is an empty file; a terminal is read as stdin
/// alone. A pipe is waited for while somebody writes to it; without a writer it is empty.
[[nodiscard]] InputFile open_input(const std::string& path);

/// The rest of an open file, at most `max_bytes` of it; absent with `errno` set where reading
/// fails.
[[nodiscard]] std::optional<std::string> read_rest(const Fd& file, std::size_t max_bytes);

}  // namespace wattle
