#include "otlp/http_answer.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"

namespace wattle::otlp {
namespace {

/// The most bytes of all lines: more than any collector sends.
constexpr std::uint64_t kMostLineBytes = std::uint64_t{64} << 10U;

/// "Sun, 06 Nov 1994 08:49:37 GMT" in seconds since 1970; absent for anything else.
std::optional<std::int64_t> unix_time_of(std::string_view date) {
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  static_cast<void>(take_word(date));
  const auto day = parse_unsigned<unsigned>(take_word(date));
  const auto* const month = std::ranges::find(kMonths, take_word(date));
  const auto year = parse_unsigned<unsigned>(take_word(date));
  std::string_view time = take_word(date);
  const auto hours = parse_unsigned<unsigned>(take_until(time, ':'));
  const auto minutes = parse_unsigned<unsigned>(take_until(time, ':'));
  const auto seconds = parse_unsigned<unsigned>(time);
  if (!day || month == kMonths.end() || !year || *year > 9999 || !hours || !minutes || !seconds) {
    return std::nullopt;
  }
  if (*hours > 23 || *minutes > 59 || *seconds > 60) return std::nullopt;
  const auto number = static_cast<unsigned>(month - kMonths.begin()) + 1;
  const std::chrono::year_month_day date_of(std::chrono::year(static_cast<int>(*year)),
                                            std::chrono::month(number), std::chrono::day(*day));
  if (!date_of.ok()) return std::nullopt;
  const auto time_of_day =
      std::chrono::hours(*hours) + std::chrono::minutes(*minutes) + std::chrono::seconds(*seconds);
  return (std::chrono::sys_days(date_of).time_since_epoch() + time_of_day) /
         std::chrono::seconds(1);
}

}  // namespace

AnswerExtent HttpAnswer::add(std::string_view bytes) {
  bytes_ += bytes.size();
  waiting_ += bytes;
  while (take_some()) {
  }
  return extent();
}

AnswerExtent HttpAnswer::end() {
  closes_ = true;
  if (phase_ == AnswerPhase::body_until_end) phase_ = AnswerPhase::whole;
  return extent();
}

AnswerExtent HttpAnswer::extent() const noexcept {
  if (phase_ == AnswerPhase::whole) return AnswerExtent::whole;
  return phase_ == AnswerPhase::garbled ? AnswerExtent::garbled : AnswerExtent::part;
}

/// False if more bytes must come first.
bool HttpAnswer::take_some() {
  switch (phase_) {
    case AnswerPhase::whole:
    case AnswerPhase::garbled:
      return false;
    case AnswerPhase::counted_body:
      return take_body(AnswerPhase::whole);
    case AnswerPhase::chunk:
      return take_body(AnswerPhase::chunk_end);
    case AnswerPhase::body_until_end:
      left_ = waiting_.size();
      return take_body(AnswerPhase::body_until_end) && !waiting_.empty();
    default:
      break;
  }
  const std::size_t end = waiting_.find('\n');
  const std::size_t length = end == std::string::npos ? waiting_.size() : end + 1;
  if (head_bytes_ + length > kMostLineBytes) {
    phase_ = AnswerPhase::garbled;
    return false;
  }
  if (end == std::string::npos) return false;
  head_bytes_ += length;
  std::string line = waiting_.substr(0, end);
  waiting_.erase(0, length);
  if (line.ends_with('\r')) line.pop_back();
  take_line_of_head(line);
  return true;
}

bool HttpAnswer::take_body(AnswerPhase after) {
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, waiting_.size()));
  // More of it than can mean anything is read and forgotten.
  answer_.body.append(waiting_, 0, std::min(count, kMostAnswerBytes - answer_.body.size()));
  waiting_.erase(0, count);
  left_ -= count;
  if (left_ > 0) return false;
  phase_ = after;
  return true;
}

void HttpAnswer::take_line_of_head(std::string_view line) {
  switch (phase_) {
    case AnswerPhase::status:
      return take_status(line);
    case AnswerPhase::header:
      return line.empty() ? end_head() : take_header(line);
    case AnswerPhase::chunk_size:
      return take_chunk_size(line);
    case AnswerPhase::chunk_end:
      phase_ = line.empty() ? AnswerPhase::chunk_size : AnswerPhase::garbled;
      return;
    case AnswerPhase::trailer:
      if (line.empty()) phase_ = AnswerPhase::whole;
      return;
    default:
      return;
  }
}

void HttpAnswer::take_status(std::string_view line) {
  std::string_view rest = line;
  const bool is_http = take_prefix(rest, "HTTP/1.");
  const std::string_view minor = take_word(rest);
  const std::string_view word = take_word(rest);
  const auto status = word.size() == 3 ? parse_unsigned<std::uint16_t>(word) : std::nullopt;
  if (!is_http || (minor != "0" && minor != "1") || !status || *status < 100) {
    phase_ = AnswerPhase::garbled;
    return;
  }
  answer_.status = *status;
  closes_ = minor == "0";
  phase_ = AnswerPhase::header;
}

void HttpAnswer::take_header(std::string_view line) {
  const std::string name = lower(take_key(line, ':'));
  if (name == "content-length") {
    const auto length = parse_unsigned<std::uint64_t>(line);
    // Two lengths that differ: nobody knows where the answer ends.
    if (!length || (has_length_ && left_ != *length)) {
      phase_ = AnswerPhase::garbled;
      return;
    }
    has_length_ = true;
    left_ = *length;
  } else if (name == "transfer-encoding") {
    is_chunked_ = lower(line).ends_with("chunked");
    if (!is_chunked_) phase_ = AnswerPhase::garbled;
  } else if (name == "connection") {
    for (const std::string& item : items_of(line)) closes_ = closes_ || lower(item) == "close";
  } else if (name == "retry-after") {
    if (const auto wait_s = parse_unsigned<std::uint32_t>(line)) {
      answer_.retry_after = std::chrono::seconds(*wait_s);
    } else if (const auto until_s = unix_time_of(line); until_s && *until_s > now_unix_s_) {
      answer_.retry_after = std::chrono::seconds(*until_s - now_unix_s_);
    }
  }
}

void HttpAnswer::end_head() {
  constexpr int kNoContent = 204;
  constexpr int kNotModified = 304;
  if (answer_.status < 200) {  // "100 Continue": the answer follows
    answer_ = {};
    has_length_ = is_chunked_ = false;
    left_ = 0;
    phase_ = AnswerPhase::status;
  } else if (answer_.status == kNoContent || answer_.status == kNotModified) {
    phase_ = AnswerPhase::whole;
  } else if (is_chunked_) {
    phase_ = AnswerPhase::chunk_size;
  } else if (has_length_) {
    phase_ = AnswerPhase::counted_body;
  } else {
    closes_ = true;
    phase_ = AnswerPhase::body_until_end;
  }
}

void HttpAnswer::take_chunk_size(std::string_view line) {
  const std::string_view digits = trimmed(take_until(line, ';'));
  constexpr int kHex = 16;
  const auto size = parse_unsigned<std::uint64_t>(digits, kHex);
  if (!size) {
    phase_ = AnswerPhase::garbled;
    return;
  }
  left_ = *size;
  phase_ = *size == 0 ? AnswerPhase::trailer : AnswerPhase::chunk;
}

}  // namespace wattle::otlp
