// Parses server-sent events from bytes that arrive in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace wattle::wire {

/// Takes pieces of any size, and returns the data of each event: its `data:` lines, with or without
/// the blank, joined by line feeds. Lines end in LF, CRLF or CR. Comments go to `on_comment`; other
/// fields (`event:`, `id:`, `retry:`) are ignored. An event longer than `kLongestEvent`, or with a
/// longer line, is dropped and counted, and the next event follows. Data within one piece is not
/// copied.
///
/// Threads: one at a time.
class SseReader {
 public:
  static constexpr std::size_t kLongestEvent = std::size_t{1} << 20U;
  /// Gets the text of a comment, without its colon and blank; valid during the call.
  using OnComment = std::function<void(std::string_view)>;

  explicit SseReader(OnComment on_comment = {}) : on_comment_(std::move(on_comment)) {}

  /// Removes the bytes up to the end of the next event from `bytes`, and returns the event's data,
  /// which is valid until the next call. Absent: all bytes were taken.
  [[nodiscard]] std::optional<std::string_view> next(std::string_view& bytes);

  /// Events that were dropped so far because of their length.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  /// Allocated memory in bytes.
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
  std::string line_;               ///< the start of a line whose end has not arrived
  std::string data_;               ///< of the event so far, unless `lasting_data_` has it
  std::string_view lasting_data_;  ///< refers to the caller's bytes
  std::uint64_t dropped_ = 0;
  bool has_data_ = false;
  bool is_dropping_ = false;       ///< drops up to the next blank line
  bool line_was_dropped_ = false;  ///< the line's start was: its end is no blank line
  bool after_cr_ = false;          ///< an LF would belong to the previous line end
  bool is_first_line_ = true;
  bool was_given_ = false;  ///< the caller uses the data until the next call
};

}  // namespace wattle::wire
