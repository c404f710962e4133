// Answers of HTTP: the first byte is the size of the pieces in which the rest comes.
#include <cstdint>
#include <string_view>

#include "check.hpp"
#include "otlp/http_answer.hpp"

FUZZ_TARGET(otlp_http)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  using otlp::AnswerExtent;
  if (size == 0) return 0;
  const std::size_t piece = data[0] + std::size_t{1};
  const std::string_view text = fuzz::text_of(data + 1, size - 1);
  constexpr std::int64_t kNow = 1'700'000'000;
  const auto take = [&](std::size_t most) {
    otlp::HttpAnswer answer(kNow);
    AnswerExtent extent = AnswerExtent::part;
    for (std::size_t at = 0; at < text.size() && extent == AnswerExtent::part; at += most) {
      extent = answer.add(text.substr(at, most));
    }
    if (extent == AnswerExtent::part) answer.end();
    return answer;
  };
  const otlp::HttpAnswer whole = take(text.size() + 1);
  const otlp::HttpAnswer pieces = take(piece);
  fuzz::require(whole.get().status == pieces.get().status &&
                    whole.get().body == pieces.get().body &&
                    whole.get().retry_after == pieces.get().retry_after,
                "an answer is the same however its bytes are divided");
  fuzz::require(whole.get().body.size() <= otlp::kMostAnswerBytes, "a body is bounded");
  fuzz::require(!whole.get().retry_after || whole.get().retry_after->count() >= 0,
                "nobody waits for the past");
  return 0;
}
