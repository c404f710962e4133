#include "base/text/line_reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace wattle {
namespace {

/// Beyond the longest line.
constexpr std::size_t kBufferBytes = std::size_t{64} << 10U;

}  // namespace

LineReader::LineReader(Fd file, std::size_t max_line_bytes, LastLine last)
    : file_(std::move(file)),
      max_line_bytes_(max_line_bytes),
      last_(last),
      buffer_(max_line_bytes + kBufferBytes) {
  // Advice: where it is not taken, nothing is lost.
  (void)::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
}

std::optional<std::string_view> LineReader::next_of_any() {
  std::size_t searched = 0;
  while (true) {
    const char* const from = buffer_.data() + begin_ + searched;
    const void* const found = std::memchr(from, line_end_, end_ - begin_ - searched);
    if (found != nullptr) {
      const auto* const line_end = static_cast<const char*>(found);
      std::string_view line(buffer_.data() + begin_,
                            static_cast<std::size_t>(line_end - buffer_.data()) - begin_);
      if (ends_in_cr() && line.find('\n') != std::string_view::npos) {
        line_end_ = '\n';  // the first bytes were no lines
        searched = 0;
        continue;
      }
      begin_ += line.size() + 1;
      if (std::exchange(too_long_, false) || line.size() > max_line_bytes_) {
        ++damaged_;
        searched = 0;
        continue;
      }
      while (line.ends_with('\r')) line.remove_suffix(1);
      return line;
    }
    searched = end_ - begin_;
    if (searched > max_line_bytes_) {
      too_long_ = true;
      begin_ = end_ = searched = 0;
    }
    if (!fill()) return take_rest();
  }
}

std::optional<std::string_view> LineReader::take_rest() {
  const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
  const bool is_line =
      !rest.empty() && !too_long_ && error_ == 0 && last_ == LastLine::is_whole_without_end;
  begin_ = end_ = 0;
  if (is_line) return rest;
  if (!rest.empty() || too_long_) ++damaged_;
  too_long_ = false;
  return std::nullopt;
}

bool LineReader::fill() {
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
            buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
  end_ -= std::exchange(begin_, 0);
  const std::size_t before = end_;
  if (!is_recognized_) {
    constexpr std::size_t kFirstBytes = std::size_t{64} << 10U;
    constexpr std::size_t kEnough = 64;  // a pipe may bring them one by one
    while (end_ < kEnough && read_more(kFirstBytes)) {
    }
    if (end_ == 0) return false;
    recognize();
    return true;
  }
  const bool is_utf8 = start_.encoding == Encoding::utf8;
  if (!read_more(is_utf8 ? kBufferBytes : kBufferBytes / 2)) return false;
  if (!is_utf8) decode(before);
  return true;
}

bool LineReader::read_more(std::size_t most) {
  const std::size_t room = std::min(buffer_.size() - end_, most);
  const ssize_t got = retried([&] { return ::read(file_.get(), buffer_.data() + end_, room); });
  if (got < 0) error_ = errno;
  if (got <= 0) return false;
  end_ += static_cast<std::size_t>(got);
  return true;
}

void LineReader::recognize() {
  is_recognized_ = true;
  start_ = file_start({buffer_.data(), end_});
  begin_ = start_.mark_bytes;
  if (start_.encoding != Encoding::utf8) {
    decoder_ = Utf16Decoder(start_.encoding == Encoding::utf16_little);
    decode(begin_);
  }
  const std::string_view text(buffer_.data() + begin_, end_ - begin_);
  // The last one may be the first half of "\r\n".
  const std::size_t cr = text.find('\r');
  const bool has_cr = cr != std::string_view::npos && cr + 1 < text.size() && text[cr + 1] != '\r';
  if (has_cr && text.find('\n') == std::string_view::npos) line_end_ = '\r';
}

void LineReader::decode(std::size_t from) {
  decoded_.clear();
  decoder_.decode({buffer_.data() + from, end_ - from}, decoded_);
  std::ranges::copy(decoded_, buffer_.begin() + static_cast<std::ptrdiff_t>(from));
  end_ = from + decoded_.size();
}

}  // namespace wattle
