// A file of the run monitor that may fail without anybody's harm.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/line_file.hpp"
#include "hardware/hardware_rows.hpp"

namespace wattle {

/// Adds rows, or loses them: the first time the log is told why, and then how many when the file
/// can be written again. Threads: one at a time; `path` and `lost` any.
class RowFile {
 public:
  /// `overwrite`: what it held is thrown away. Throws as `LineFile`.
  RowFile(const std::filesystem::path& folder, FileKind kind, bool overwrite);

  /// Whole rows; those of one call are there together, or not at all.
  void add(std::string_view rows) noexcept;

  /// Absent where no row was written.
  [[nodiscard]] std::optional<std::filesystem::path> path() const;
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

 private:
  std::filesystem::path path_;
  LineFile file_;
  bool is_failing_ = false;
  std::atomic<bool> has_rows_{false};
  std::atomic<std::uint64_t> lost_{0};
};

}  // namespace wattle
