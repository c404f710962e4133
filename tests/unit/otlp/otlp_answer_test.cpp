#include "otlp/otlp_answer.hpp"

#include <gtest/gtest.h>

#include <string>

namespace wattle::otlp {
namespace {

OtlpOutcome outcome(int status, const std::string& body = "{}") {
  return outcome_of({.status = status, .body = body}, OtlpSignal::metrics, 10);
}

TEST(OtlpAnswer, AnEmptyObjectAcceptsEverything) {
  for (const char* const body : {"{}", "", " \r\n"}) {
    EXPECT_EQ(outcome(200, body).verdict, OtlpVerdict::accepted);
    EXPECT_EQ(outcome(200, body).rejected, 0U);
  }
}

TEST(OtlpAnswer, PartialSuccessCountsWhatWasRejectedAndIsNotSentAgain) {
  const OtlpOutcome partial = outcome(
      200, R"({"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"too\u001bold"}})");
  EXPECT_EQ(partial.verdict, OtlpVerdict::accepted);
  EXPECT_EQ(partial.rejected, 3U);
  EXPECT_EQ(partial.reason, "too\\x1bold");
  EXPECT_EQ(outcome(200, R"({"partialSuccess":{"rejectedDataPoints":4}})").rejected, 4U);
  EXPECT_EQ(outcome_of({.status = 200, .body = R"({"partialSuccess":{"rejectedSpans":"2"}})"},
                       OtlpSignal::traces, 10)
                .rejected,
            2U);
}

TEST(OtlpAnswer, NeverMoreIsRejectedThanWasSent) {
  EXPECT_EQ(outcome(200, R"({"partialSuccess":{"rejectedDataPoints":"99"}})").rejected, 10U);
  EXPECT_EQ(outcome(200, R"({"partialSuccess":{"rejectedDataPoints":"-1"}})").rejected, 0U);
  EXPECT_EQ(outcome(200, R"({"partialSuccess":[1]})").rejected, 0U);
}

TEST(OtlpAnswer, ASuccessThatIsNoOtlpIsALoss) {
  for (const std::string& body :
       {std::string("<html>"), std::string("[]"), std::string("7"), std::string(100'000, '{')}) {
    EXPECT_EQ(outcome(200, body).rejected, 10U);
    EXPECT_NE(outcome(200, body).reason, "");
  }
}

TEST(OtlpAnswer, OnlyFourStatusesAreSentAgain) {
  for (int status = 300; status < 600; ++status) {
    const bool again = status == 429 || status == 502 || status == 503 || status == 504;
    const OtlpOutcome found = outcome(status, R"({"message":"no"})");
    EXPECT_EQ(found.verdict, again ? OtlpVerdict::retry : OtlpVerdict::refused) << status;
    EXPECT_EQ(found.rejected, again ? 0U : 10U) << status;
    EXPECT_EQ(found.reason, "the answer is " + std::to_string(status) + ": no");
  }
}

TEST(OtlpAnswer, ASilentCollectorIsAskedAgain) {
  const OtlpOutcome found = outcome_of({.failure = "connection refused"}, OtlpSignal::metrics, 10);
  EXPECT_EQ(found.verdict, OtlpVerdict::retry);
  EXPECT_EQ(found.reason, "connection refused");
}

TEST(OtlpAnswer, RetryAfterIsHeededUpToAnHour) {
  const auto wait = [](std::int64_t s) {
    return outcome_of({.status = 429, .retry_after = std::chrono::seconds(s)}, OtlpSignal::metrics,
                      10)
        .wait;
  };
  EXPECT_EQ(wait(7), std::chrono::seconds(7));
  EXPECT_EQ(wait(1'000'000), std::chrono::seconds(3600));
  EXPECT_EQ(wait(-5), std::chrono::seconds(0));
  EXPECT_FALSE(outcome(503).wait);
}

}  // namespace
}  // namespace wattle::otlp
