// A file of the run monitor that may fail without anybody's harm.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/files/line_file.hpp"
#include "run_monitor/hardware_rows.hpp"

namespace wattle {

/// Adds rows, or loses them: the first time it logs why, and then how many when the file
/// can be written again. A new file is its owner's alone. Threads: one at a time; `path`, `begin`
/// and `lost` any.
class RowFile {
 public:
  /// `will_clear`: `clear` follows, so that the file may be one that nvidia-smi wrote. Throws as
  /// `LineFile`.
  RowFile(const std::filesystem::path& folder, FileKind kind, bool will_clear = false);

  /// Throws away the rows that it held before. Throws `WriteError`.
  void clear();
  /// Whole rows; those of one call are there together, or not at all. `unknown`: rows of the same
  /// time in which nothing is known. Those of the first rows that are lost come before the next
  /// rows that are written: what was lost is then unknown, and not as it was before.
  /// `room`: that of the last rows is `reserved`, which they find also when the disk is full.
  void add(std::string_view rows, std::string_view unknown = {},
           LineFile::Room room = LineFile::Room::free) noexcept;

  /// Absent where no row was written.
  [[nodiscard]] std::optional<std::filesystem::path> path() const;
  /// The bytes in front of the first row that was added.
  [[nodiscard]] std::uint64_t begin() const noexcept { return begin_; }
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

 private:
  void keep_unknown(std::string_view unknown) noexcept;

  std::filesystem::path path_;
  LineFile file_;
  std::atomic<std::uint64_t> begin_;
  bool is_failing_ = false;
  std::string unknown_;  ///< rows that say since when rows are lost; empty: none are
  std::atomic<bool> has_rows_{false};
  std::atomic<std::uint64_t> lost_{0};
};

}  // namespace wattle
