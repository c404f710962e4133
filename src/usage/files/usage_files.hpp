// The files that are written while processes are tracked: a table of samples, and all that is known
// so far, which is read again after a crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "usage/files/output_file.hpp"
#include "usage/files/tracking_table.hpp"
#include "wattle/error.hpp"
#include "wattle/tracker.hpp"

namespace wattle {

/// A line of a usage file with its end. `tick` counts the samples from 1.
[[nodiscard]] std::string usage_line(const ResourceUsage& usage, std::uint64_t tick);
/// The contents of a usage file of a killed tracker.
struct RecoveredUsage {
  ResourceUsage usage;
  std::uint64_t ticks = 0;  ///< samples that were completed
};
/// The last whole line among `lines`. Throws `FormatError`, which names `path`, where there is
/// none.
[[nodiscard]] RecoveredUsage recovered(std::string_view lines, const std::string& path);

/// A usage file that has grown larger is replaced by its last line.
inline constexpr std::size_t kUsageFileBytes = std::size_t{16} << 20U;

struct UsageFileOptions {
  std::optional<std::filesystem::path> tracking_file{};  ///< absent: none
  /// Absent: one of its own in the state folder, if that can be written; empty: none.
  std::optional<std::filesystem::path> usage_file{};
  bool overwrite = false;
  bool logs = true;      ///< failures go to the log when they happen
  bool is_late = false;  ///< a file in the state folder is made by the first `write_usage`
};

/// Threads: one at a time.
class UsageFiles {
 public:
  /// Opens the files, and empties them. Throws as the constructor of `Tracker`.
  explicit UsageFiles(const UsageFileOptions& options, std::size_t most_bytes = kUsageFileBytes);

  /// Otherwise those that were made go with this object: none is in the way of a second try.
  void keep(bool wanted) noexcept;

  [[nodiscard]] bool has_rows() const noexcept { return rows_ != nullptr; }
  [[nodiscard]] bool has_usage() const noexcept { return is_due_ || (usage_ && *usage_); }

  // The first failure ends the writing of that file, not of the other.

  void begin_rows(const TrackingHeader& header);
  void add_row(const std::vector<TrackingCell>& row);
  /// `ticks`: the number of samples so far.
  void write_usage(const ResourceUsage& usage, std::uint64_t ticks);
  /// Removes the usage file where all went well.
  void end();

  /// The first write that failed, of either file.
  [[nodiscard]] const std::optional<WriteError>& failure() const noexcept { return failure_; }

 private:
  void make_in_state_folder();
  void check_rows(int error);
  void note_failure(const std::string& path, int error);
  void report(const std::string& message) const;

  bool logs_;
  std::unique_ptr<TrackingTable> rows_;  ///< null: none
  std::optional<OutputFile> usage_;      ///< absent: none
  bool is_due_ = false;                  ///< it is still to be made
  std::size_t first_most_bytes_;
  std::size_t most_bytes_;  ///< then it is replaced, if that is possible
  std::optional<WriteError> failure_;
};

}  // namespace wattle
