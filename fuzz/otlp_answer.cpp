// Answers of a collector: the first line is the status and the length of Retry-After, the rest the
// body.
#include "otlp/otlp_answer.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "check.hpp"

FUZZ_TARGET(otlp_answer)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  using otlp::OtlpVerdict;
  std::string_view text = fuzz::text_of(data, size);
  std::string_view head = take_line(text);
  otlp::OtlpAnswer answer{
      .status = static_cast<int>(parse_unsigned<std::uint16_t>(take_word(head)).value_or(0)),
      .body = std::string(text)};
  if (const auto wait = parse_unsigned<std::uint32_t>(take_word(head))) {
    answer.retry_after = std::chrono::seconds(*wait);
  }
  constexpr std::uint64_t kItems = 100;
  for (const auto signal : {otlp::OtlpSignal::metrics, otlp::OtlpSignal::traces}) {
    const otlp::OtlpOutcome outcome = otlp::outcome_of(answer, signal, kItems);
    fuzz::require(fuzz::is_clean(outcome.reason), "a reason is safe to print");
    fuzz::require(outcome.rejected <= kItems, "no more is rejected than was sent");
    fuzz::require(outcome.verdict != OtlpVerdict::refused || outcome.rejected == kItems,
                  "what is refused is rejected");
    fuzz::require(!outcome.wait || (outcome.wait->count() >= 0 && outcome.wait->count() <= 3600),
                  "a wait is bounded");
  }
  return 0;
}
