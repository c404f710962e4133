// An answer of HTTP/1.1, taken apart as its bytes come. Foreign bytes: bounded, whatever comes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "otlp/otlp_answer.hpp"

namespace wattle::otlp {

/// How much of an answer is there.
enum class AnswerExtent : std::uint8_t {
  part,     ///< more must come
  whole,    ///< all of it
  garbled,  ///< what came is no answer
};

/// Threads: one at a time.
class HttpAnswer {
 public:
  /// Takes bytes in the order in which they came, in pieces of any size. `now_unix_s`: for a
  /// `Retry-After` that is a date.
  explicit HttpAnswer(std::int64_t now_unix_s) : now_unix_s_(now_unix_s) {}
  AnswerExtent add(std::string_view bytes);
  /// The connection ended: that is the end of a body without a length.
  AnswerExtent end();

  [[nodiscard]] bool has_begun() const noexcept { return bytes_ > 0; }
  /// Status, body and Retry-After; whole after `AnswerExtent::whole`.
  [[nodiscard]] const OtlpAnswer& get() const noexcept { return answer_; }
  /// True if another request can follow on the connection.
  [[nodiscard]] bool keeps_connection() const noexcept { return !closes_ && waiting_.empty(); }

 private:
  enum class AnswerPhase : std::uint8_t {
    status,
    header,
    counted_body,
    chunk_size,
    chunk,
    chunk_end,
    trailer,
    body_until_end,
    whole,
    garbled,
  };

  [[nodiscard]] AnswerExtent extent() const noexcept;
  bool take_some();
  bool take_body(AnswerPhase after);
  void take_line_of_head(std::string_view line);
  void take_status(std::string_view line);
  void take_header(std::string_view line);
  void end_head();
  void take_chunk_size(std::string_view line);

  std::int64_t now_unix_s_;
  OtlpAnswer answer_{};
  AnswerPhase phase_ = AnswerPhase::status;
  std::string waiting_{};         ///< came, and is not taken yet
  std::uint64_t bytes_ = 0;       ///< of everything
  std::uint64_t head_bytes_ = 0;  ///< of lines: of the head, of chunks
  std::uint64_t left_ = 0;        ///< of a body, or of a chunk
  bool has_length_ = false;
  bool is_chunked_ = false;
  bool closes_ = false;
};

}  // namespace wattle::otlp
