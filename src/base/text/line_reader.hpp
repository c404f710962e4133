// The lines of a file of any length, in constant memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/fd.hpp"
#include "base/text/text_encoding.hpp"

namespace wattle {

/// A byte order mark is skipped, and UTF-16 becomes UTF-8 (see `file_start`). Threads: one at a
/// time.
class LineReader {
 public:
  /// Lines of more bytes are passed over, and counted as one.
  static constexpr std::size_t kMaxLineBytes = std::size_t{64} << 10U;

  /// Text after the last line end may be cut off, or is a line.
  enum class LastLine : bool { is_damaged_without_end, is_whole_without_end };
  explicit LineReader(Fd file, std::size_t max_line_bytes = kMaxLineBytes,
                      LastLine last = LastLine::is_damaged_without_end);

  /// The next line, without its end ("\n", "\r\n", "\r\r\n"; or "\r" alone: see `ends_in_cr`);
  /// valid until the next call. Absent at the end of the file, or of what can be read of it: see
  /// `error`.
  [[nodiscard]] std::optional<std::string_view> next() {
    if (too_long_ || ends_in_cr()) return next_of_any();
    // Most lines lie in the buffer and need nothing else.
    const char* const begin = buffer_.data() + begin_;
    const void* const found = std::memchr(begin, '\n', end_ - begin_);
    if (found == nullptr) return next_of_any();
    const std::string_view line(begin,
                                static_cast<std::size_t>(static_cast<const char*>(found) - begin));
    if (line.size() > max_line_bytes_ || line.ends_with('\r')) return next_of_any();
    begin_ += line.size() + 1;
    return line;
  }

  /// The `errno` that reading stopped with; 0 while it did not.
  [[nodiscard]] int error() const noexcept { return error_; }
  /// Lines that were too long, and a last one without its end, which `next` does not give.
  [[nodiscard]] std::size_t damaged() const noexcept { return damaged_; }
  /// True if lines end in "\r" alone, as old spreadsheets write them: the first bytes have some of
  /// those and no "\n". Once `next` was called.
  [[nodiscard]] bool ends_in_cr() const noexcept { return line_end_ == '\r'; }
  /// The encoding found in the first bytes, once `next` was called.
  [[nodiscard]] const FileStart& start() const noexcept { return start_; }

 private:
  std::optional<std::string_view> next_of_any();
  /// The text after the last line end, if it is a line.
  std::optional<std::string_view> take_rest();
  /// Reads more of the file after what is kept; false at its end.
  bool fill();
  /// One `read`; false at the end, or where it fails.
  bool read_more(std::size_t most);
  /// Finds out the encoding, from the first bytes.
  void recognize();
  /// Replaces the bytes from `from` on, which are UTF-16.
  void decode(std::size_t from);

  Fd file_;
  std::size_t max_line_bytes_;
  LastLine last_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  ///< of what was not given yet
  std::size_t end_ = 0;
  std::size_t damaged_ = 0;
  bool too_long_ = false;  ///< the start of the line is gone already
  int error_ = 0;
  bool is_recognized_ = false;
  char line_end_ = '\n';
  FileStart start_;
  Utf16Decoder decoder_;
  std::string decoded_;  ///< reused
};

}  // namespace wattle
