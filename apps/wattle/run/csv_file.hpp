// A file of comma-separated values that grows while a command runs.
#pragma once

#include <string>
#include <string_view>

#include "base/files/fd.hpp"

namespace wattle::app {

/// Rows are written with one system call: a run that is killed leaves whole rows. So does a pipe
/// whose reader is slow: what it does not take within 0.1 s ends the rows. After one that could not
/// be written it does nothing. Threads: one at a time.
class CsvFile {
 public:
  /// Puts a new file with the header in the place of the old one, or with `append` opens the old
  /// one, which gets no second header; throws `WriteError`. `header`: with its line end.
  CsvFile(const std::string& path, std::string_view header, bool append);

  /// Whole rows, with their line ends.
  void add(std::string_view rows);
  [[nodiscard]] bool has_failed() const noexcept { return error_ != 0; }
  /// Why a row could not be written; empty where all were.
  [[nodiscard]] std::string failure() const;
  /// It had rows before, under the header of their writer.
  [[nodiscard]] bool is_continued() const noexcept { return is_continued_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  [[nodiscard]] static Fd open(const std::string& path, std::string_view header, bool append);
  void write_whole(std::string_view rows);

  std::string path_;
  Fd fd_;
  bool is_special_ = false;  ///< no regular file: a pipe, a terminal
  bool is_continued_ = false;
  int error_ = 0;
};

}  // namespace wattle::app
