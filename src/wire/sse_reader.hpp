// Server-sent events out of bytes that come in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace wattle::wire {

/// Takes the bytes of a stream in pieces of any size, and gives the data of each event: `data:`
/// lines, with or without the blank, joined by line feeds; lines end in LF, CRLF or CR. Comments go
/// to whom the reader was made for; all else (`event:`, `id:`, `retry:`) is passed over. An event
/// that is longer than `kLongestEvent`, or has such a line, is dropped and counted, and takes no
/// more memory than that; reading goes on behind it. Bytes that came within one piece are not
/// copied.
///
/// Threads: one at a time.
class SseReader {
 public:
  static constexpr std::size_t kLongestEvent = std::size_t{1} << 20U;
  /// Gets the text of a comment, without its colon and blank, which stands during the call.
  using OnComment = std::function<void(std::string_view)>;

  explicit SseReader(OnComment on_comment = {}) : on_comment_(std::move(on_comment)) {}

  /// Takes bytes from the begin of `bytes` up to the next event's end and gives its data, which
  /// stands until the next call; absent where all bytes were taken.
  [[nodiscard]] std::optional<std::string_view> next(std::string_view& bytes);

  /// Events that were dropped so far, for their length.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  /// Memory beside the object itself, in bytes.
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return line_.capacity() + data_.capacity();
  }

 private:
  [[nodiscard]] std::optional<std::string_view> end_line(std::string_view line, bool is_lasting);
  [[nodiscard]] std::optional<std::string_view> end_event() noexcept;
  void keep_piece_of_line(std::string_view piece);
  void add_data(std::string_view data, bool is_lasting);
  void keep_data();
  void drop_event() noexcept;
  void start_event() noexcept;

  OnComment on_comment_;
  std::string line_;               ///< the begin of a line whose end has not come
  std::string data_;               ///< of the event so far, unless all of it is in `lasting_data_`
  std::string_view lasting_data_;  ///< within the bytes that are being taken
  std::uint64_t dropped_ = 0;
  bool has_data_ = false;
  bool is_dropping_ = false;       ///< up to the next blank line
  bool line_was_dropped_ = false;  ///< its begin, so that its end is no blank line
  bool after_cr_ = false;          ///< an LF would belong to the line end before it
  bool is_first_line_ = true;
  bool was_given_ = false;  ///< the data is the caller's until the next call
};

}  // namespace wattle::wire
