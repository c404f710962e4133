// A file of lines that grows as things happen, and survives what happens to its writer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/fd.hpp"
#include "base/files/output_path.hpp"

namespace wattle {

/// Adds whole lines to the end of a file, each in one system call: what is killed in the middle
/// leaves every line that was added before, and at most one that lacks its end. It is removed when
/// the file is next opened or added to; so is what a full disk had no room for, at once. Others may
/// add to the file through this class as well: they take turns. A file that is deleted in that time
/// is made again, with its folder. What is no regular file is only written to. Threads: one at a
/// time.
class LineFile {
 public:
  /// In `first_bytes`: any digit from 0 to 9.
  static constexpr char kDigit = '\1';

  /// Opens the file, or makes it and the folders above it. `first_bytes`: what a file that is not
  /// empty must start with, so that none of another kind is cut off or added to. `header`: lines
  /// that come before the first one of an empty file. `to_be_cleared`: what else it may start with,
  /// for who calls `clear` before the first line. `mode`: of a file that is made. Throws
  /// `WriteError`, and `FormatError` for another file.
  LineFile(std::filesystem::path path, std::string first_bytes, std::string header = {},
           std::vector<std::string> to_be_cleared = {}, mode_t mode = kModeForAll);

  /// Whether lines may use the space that `reserve` keeps.
  enum class Room : std::uint8_t { free, reserved };

  /// Adds lines, each with its line end. Throws `WriteError`: then the file has none of them.
  void add(std::string_view lines, Room room = Room::free);
  /// From now on this number of bytes is kept on the disk after the file's end, so that the last
  /// lines find room when the disk is full. Not every file system can do that. They stay with the
  /// file: to give them back could take away what others have added since.
  void reserve(std::uint64_t bytes) noexcept { reserve_ = bytes; }
  /// Throws away what the file holds. Throws `WriteError`.
  void clear();
  /// Writes added lines to the disk: they survive a power failure. Does nothing unless it is a
  /// regular file. Throws `WriteError`.
  void sync();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The file's size when it was opened: what was added since follows it.
  [[nodiscard]] std::uint64_t begin() const noexcept { return begin_; }

 private:
  void open();
  /// Makes the folder and the file; 0, or an `errno`.
  [[nodiscard]] int open_in_folder();
  void check_and_repair();
  [[nodiscard]] std::uint64_t size_now() const;
  /// Takes away what lacks its line end; the size then.
  std::uint64_t repair(std::uint64_t size);
  [[nodiscard]] bool ends_with_a_line(std::uint64_t size) const;
  /// Where the line after the last whole one starts.
  [[nodiscard]] std::uint64_t end_of_last_line(std::uint64_t size) const;
  [[nodiscard]] bool was_deleted() const noexcept;
  /// False if the disk has no room for a file up to `end` and for the reserve after it.
  [[nodiscard]] bool keeps_room(std::uint64_t size, std::uint64_t end) noexcept;
  [[nodiscard]] bool begins_as_it_should(std::string_view begin) const noexcept;
  [[noreturn]] void fail(int error_number) const;

  std::string path_;
  std::string first_bytes_;
  std::string header_;
  std::vector<std::string> to_be_cleared_;
  mode_t mode_;
  Fd fd_;
  bool regular_ = false;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;  ///< the size at the last check or write
  std::uint64_t reserve_ = 0;
  std::uint64_t reserved_end_ = 0;  ///< up to there the disk has room; 0: unknown
  bool is_new_ = false;  ///< no regular file, and nothing was written to it since it was opened
};

}  // namespace wattle
