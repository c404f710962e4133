// The folder with the chunks of the history, for one daemon alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/files/fd.hpp"
#include "wattle/clock.hpp"

namespace wattle::daemon {

/// A chunk in the folder.
struct ChunkFile {
  std::string name;
  std::uint64_t bytes = 0;
  TimePoint made;  ///< stored time, from its name

  bool operator==(const ChunkFile&) const = default;
};

/// The name of a chunk. Names are in the order of their times, and of `number` in a session.
[[nodiscard]] std::string chunk_name(TimePoint made, std::uint64_t session, std::uint32_t number);

/// True for the name of a chunk of this session.
[[nodiscard]] bool is_chunk_of(const std::string& name, std::uint64_t session);

/// Touches only files with names of chunks. Threads: any.
class ChunkFolder {
 public:
  /// Opens the folder, which it makes if its parent folder is there, and locks it. Throws `Error`:
  /// it is not a folder, or a link; another user owns it, or may write in it; another daemon uses
  /// it; it cannot be written.
  explicit ChunkFolder(std::string path);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// In the order of their names. Empty if it cannot be read.
  [[nodiscard]] std::vector<ChunkFile> list() const;
  /// The bytes of a chunk. False, with `errno` set: it cannot be read, or is no chunk (EFBIG: too
  /// large).
  [[nodiscard]] bool read(const std::string& name, std::string& bytes) const;
  /// A new file (0600). Empty, with `errno` set, on failure.
  [[nodiscard]] Fd make(const std::string& name) const;
  /// 0, or an `errno`.
  [[nodiscard]] int remove(const std::string& name) const;

 private:
  std::string path_;
  Fd folder_;
  Fd lock_;  ///< locked for as long as this lives
};

}  // namespace wattle::daemon
