#include "otlp/otlp_answer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json/json_read.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"

namespace wattle::otlp {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kTooManyRequests = 429;
constexpr int kBadGateway = 502;
constexpr int kUnavailable = 503;
constexpr int kGatewayTimeout = 504;
/// Nobody waits longer because an answer says so.
constexpr std::chrono::seconds kLongestWait{3600};

bool is_retryable(int status) noexcept {
  return status == kTooManyRequests || status == kBadGateway || status == kUnavailable ||
         status == kGatewayTimeout;
}

std::string text_in(const Json& json, const char* key) {
  std::string text;
  take_member(json, key, text);
  return printable(text);
}

/// A number of 64 bits: a text, or a number.
std::uint64_t count_in(const Json& json, const char* key) {
  const Json& value = at(json, key);
  if (value.is_string()) {
    return parse_unsigned<std::uint64_t>(value.get_ref<const std::string&>()).value_or(0);
  }
  return read_number<std::uint64_t>(value).value_or(0);
}

/// "the answer is 400: unknown unit".
std::string failure_reason(const OtlpAnswer& answer) {
  const std::string said = text_in(parse_json(answer.body), "message");
  return fmt::format("the answer is {}{}{}", answer.status, said.empty() ? "" : ": ", said);
}

OtlpOutcome outcome_of_success(const OtlpAnswer& answer, OtlpSignal signal, std::uint64_t items) {
  if (trimmed(answer.body, " \t\r\n").empty()) return {};
  const Json json = parse_json(answer.body);
  if (!json.is_object()) {
    return {.verdict = OtlpVerdict::accepted,
            .rejected = items,
            .reason = "the answer is 200, but no OTLP; check the URL"};
  }
  const Json& partial = at(json, "partialSuccess");
  const bool is_metrics = signal == OtlpSignal::metrics;
  const std::uint64_t rejected =
      count_in(partial, is_metrics ? "rejectedDataPoints" : "rejectedSpans");
  return {.verdict = OtlpVerdict::accepted,
          .rejected = std::min(rejected, items),
          .reason = text_in(partial, "errorMessage")};
}

}  // namespace

OtlpOutcome outcome_of(const OtlpAnswer& answer, OtlpSignal signal, std::uint64_t items) {
  constexpr int kOk = 200;
  constexpr int kRedirect = 300;
  if (answer.status == 0) return {.verdict = OtlpVerdict::retry, .reason = answer.failure};
  if (answer.status >= kOk && answer.status < kRedirect) {
    return outcome_of_success(answer, signal, items);
  }
  if (!is_retryable(answer.status)) {
    return {.verdict = OtlpVerdict::refused, .rejected = items, .reason = failure_reason(answer)};
  }
  OtlpOutcome outcome{.verdict = OtlpVerdict::retry, .reason = failure_reason(answer)};
  if (answer.retry_after) {
    outcome.wait = std::clamp(*answer.retry_after, std::chrono::seconds(0), kLongestWait);
  }
  return outcome;
}

}  // namespace wattle::otlp
