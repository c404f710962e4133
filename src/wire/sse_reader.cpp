#include "wire/sse_reader.hpp"

#include <utility>

namespace wattle::wire {
namespace {

/// The capacity that is kept after an event.
constexpr std::size_t kKeptRoom = 1024;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The end of the first line of `bytes`. Searching first for LF, which ends nearly all lines, is
/// much faster than searching for both.
std::size_t line_end(std::string_view bytes) noexcept {
  const std::size_t feed = bytes.find('\n');
  const std::size_t carriage = bytes.substr(0, feed).find('\r');
  return carriage == std::string_view::npos ? feed : carriage;
}

void empty(std::string& text) noexcept {
  if (text.capacity() > kKeptRoom) {
    std::string().swap(text);
  } else {
    text.clear();
  }
}

}  // namespace

std::optional<std::string_view> SseReader::next(std::string_view& bytes) {
  if (std::exchange(was_given_, false)) start_event();
  while (!bytes.empty()) {
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = line_end(bytes);
    if (end == std::string_view::npos) {
      keep_piece_of_line(bytes);
      bytes = {};
      break;
    }
    const std::string_view piece = bytes.substr(0, end);
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    std::optional<std::string_view> event;
    if (line_.empty() && !line_was_dropped_ && piece.size() <= kLongestEvent) {
      event = end_line(piece, true);
    } else {
      keep_piece_of_line(piece);
      if (!std::exchange(line_was_dropped_, false)) event = end_line(line_, false);
      empty(line_);
    }
    if (event) return event;
  }
  keep_data();
  return std::nullopt;
}

/// `is_lasting`: the line refers to the caller's bytes.
std::optional<std::string_view> SseReader::end_line(std::string_view line, bool is_lasting) {
  if (std::exchange(is_first_line_, false) && line.starts_with(kByteOrderMark)) {
    line.remove_prefix(kByteOrderMark.size());
  }
  if (line.empty()) return end_event();
  const std::size_t colon = line.find(':');
  if (colon == 0 && on_comment_) on_comment_(line.substr(line.starts_with(": ") ? 2 : 1));
  if (line.substr(0, colon) != "data") return std::nullopt;
  std::string_view data;
  if (colon != std::string_view::npos) data = line.substr(colon + 1);
  if (data.starts_with(' ')) data.remove_prefix(1);
  add_data(data, is_lasting);
  return std::nullopt;
}

std::optional<std::string_view> SseReader::end_event() noexcept {
  is_dropping_ = false;
  if (!has_data_) return std::nullopt;
  const std::string_view data = lasting_data_.empty() ? std::string_view(data_) : lasting_data_;
  if (data.empty()) {
    start_event();
    return std::nullopt;
  }
  was_given_ = true;
  return data;
}

void SseReader::keep_piece_of_line(std::string_view piece) {
  if (line_was_dropped_) return;
  if (line_.size() + piece.size() <= kLongestEvent) {
    line_ += piece;
    return;
  }
  empty(line_);
  line_was_dropped_ = true;
  is_first_line_ = false;
  drop_event();
}

void SseReader::add_data(std::string_view data, bool is_lasting) {
  if (is_dropping_) return;
  if (!has_data_ && is_lasting) {
    lasting_data_ = data;
    has_data_ = true;
    return;
  }
  keep_data();
  if (data_.size() + data.size() >= kLongestEvent) {
    drop_event();
    return;
  }
  if (has_data_) data_ += '\n';
  data_ += data;
  has_data_ = true;
}

void SseReader::keep_data() {
  if (!lasting_data_.empty()) data_ = lasting_data_;
  lasting_data_ = {};
}

void SseReader::drop_event() noexcept {
  if (!std::exchange(is_dropping_, true)) ++dropped_;
  start_event();
}

void SseReader::start_event() noexcept {
  empty(data_);
  lasting_data_ = {};
  has_data_ = false;
}

}  // namespace wattle::wire
