#include "base/text/trace_context.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace wattle {
namespace {

const std::string kTrace = "0af7651916cd43dd8448eb211c80319c";
const std::string kParent = "b7ad6b7169203331";

std::string header(const std::string& version, const std::string& flags) {
  return version + "-" + kTrace + "-" + kParent + "-" + flags;
}

TEST(TraceContext, ReadsTheFieldsOfVersion00) {
  const auto context = parse_traceparent(header("00", "01"));
  ASSERT_TRUE(context);
  EXPECT_EQ(hex_text(context->trace), kTrace);
  EXPECT_EQ(hex_text(context->parent), kParent);
  EXPECT_TRUE(context->is_sampled);
}

TEST(TraceContext, MasksTheSampledFlag) {
  EXPECT_FALSE(parse_traceparent(header("00", "00"))->is_sampled);
  EXPECT_TRUE(parse_traceparent(header("00", "09"))->is_sampled);
  EXPECT_FALSE(parse_traceparent(header("00", "fe"))->is_sampled);
}

TEST(TraceContext, ReadsTheFirstFieldsOfALaterVersion) {
  EXPECT_TRUE(parse_traceparent(header("01", "01")));
  EXPECT_TRUE(parse_traceparent(header("cc", "01") + "-what-the-future-will-be-like"));
  EXPECT_TRUE(parse_traceparent(header("01", "01") + "-"));
  EXPECT_FALSE(parse_traceparent(header("01", "01") + ".rest"));
}

TEST(TraceContext, IgnoresWhatIsInvalid) {
  const std::string good = header("00", "01");
  for (const std::string& bad :
       {std::string(), std::string("00"), header("ff", "01"),            // the forbidden version
        header("0", "01"),                                               // short
        header("00", "1"),                                               //
        header("00", "01") + "-more",                                    // more than version 00 has
        header("00", "01") + "0",                                        //
        header("00", "0x"),                                              // no digits
        "00-" + std::string(32, '0') + "-" + kParent + "-01",            // zeros
        "00-" + kTrace + "-" + std::string(16, '0') + "-01",             //
        "00-0AF7651916CD43DD8448EB211C80319C-" + kParent + "-01",        // capitals
        "00-" + kTrace + "-B7AD6B7169203331-01",                         //
        "00_" + kTrace + "-" + kParent + "-01",                          // other separators
        "00-" + kTrace + "_" + kParent + "-01",                          //
        std::string(10'000, 'a'),                                        //
        header("01", "01") + "-" + std::string(10'000, 'a'),             // endless
        good.substr(0, 30) + std::string(1, '\0') + good.substr(31)}) {  // a byte of 0
    EXPECT_FALSE(parse_traceparent(bad)) << bad.substr(0, 100);
  }
}

TEST(TraceContext, IsReadBackAsWritten) {
  const TraceContext made{.trace = make_trace_id(), .parent = make_span_id(), .is_sampled = false};
  EXPECT_EQ(parse_traceparent(traceparent_text(made)), made);
  EXPECT_EQ(parse_traceparent(" " + traceparent_text(made) + " "), made);
}

TEST(TraceContext, NewNumbersDiffer) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(hex_text(make_span_id()));
  EXPECT_EQ(seen.size(), 1000U);
}

}  // namespace
}  // namespace wattle
