#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/metrics_text.hpp"
#include "api/protobuf.hpp"

namespace wattle::daemon {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;  // NOLINT(google-build-using-namespace): literals alone

std::string protobuf_of(const MetricFamily& family) {
  return metrics_protobuf(std::vector<MetricFamily>{family});
}

// The examples of https://protobuf.dev/programming-guides/encoding/.
TEST(ProtobufMessage, HasTheBytesOfTheEncoding) {
  ProtobufMessage number;
  number.add_number(1, 150);
  EXPECT_EQ(number.bytes(), "\x08\x96\x01"s);
  ProtobufMessage outer;
  outer.add(3, number);
  EXPECT_EQ(outer.bytes(), "\x1a\x03\x08\x96\x01"s);
  ProtobufMessage text;
  text.add_bytes(2, "testing");
  EXPECT_EQ(text.bytes(), "\x12\x07testing"s);
}

TEST(ProtobufMessage, HasNumbersOfAllSizes) {
  ProtobufMessage largest;
  largest.add_number(1, UINT64_MAX);
  EXPECT_EQ(largest.bytes(), "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s);
  ProtobufMessage packed;
  packed.add_packed(13, std::vector<std::int64_t>{0, -1, 1, -2, INT64_MIN});
  EXPECT_EQ(packed.bytes(), "\x6a\x0e\x00\x01\x02\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s);
  ProtobufMessage real;
  real.add_real(1, 1.0);
  EXPECT_EQ(real.bytes(), "\x09\x00\x00\x00\x00\x00\x00\xf0\x3f"s);
}

TEST(MetricsProtobuf, HasAGaugeWithItsLabels) {
  EXPECT_EQ(protobuf_of({.name = "g", .help = "G.", .samples = {{{{"a", "b"}}, 1.0}}}),
            "\x1e"                         // bytes of the family
            "\x0a\x01g\x12\x02G.\x18\x01"  // its name, its help, and that it is a gauge
            "\x22\x13"                     // a metric
            "\x0a\x06\x0a\x01"
            "a\x12\x01"
            "b"  // its label
            "\x12\x09\x09\x00\x00\x00\x00\x00\x00\xf0\x3f"s);
}

TEST(MetricsProtobuf, HasTheNamesOfTheTextFormat) {
  const std::string bytes =
      protobuf_of({.name = "c",
                   .help = "C.",
                   .kind = MetricKind::counter,
                   .samples = {{.labels = {}, .value = 1, .created_unix_s = 2.0}}});
  EXPECT_THAT(bytes, HasSubstr("\x0a\x07"
                               "c_total\x12\x02"
                               "C.\x18"s +
                               '\0'));
  EXPECT_THAT(bytes, HasSubstr("\x0a\x09"
                               "c_created"s));
  EXPECT_THAT(bytes, HasSubstr("Unix time at which c_total started at 0."));
}

TEST(MetricsProtobuf, HasNothingOfAFamilyWithoutSamples) {
  EXPECT_EQ(protobuf_of({.name = "g", .help = "G."}), "");
}

TEST(MetricsProtobuf, HasNoTextThatIsNotUtf8) {
  const std::string bytes =
      protobuf_of({.name = "g", .help = "G.", .samples = {{{{"a", "\xff\n\""}}, 1.0}}});
  EXPECT_THAT(bytes, HasSubstr("\xef\xbf\xbd\n\""));
}

TEST(MetricsProtobuf, HasTheBucketsOfANativeHistogram) {
  const std::string bytes =
      protobuf_of({.name = "h",
                   .help = "H.",
                   .kind = MetricKind::histogram,
                   .samples = {{.labels = {},
                                .value = 1.0,
                                .buckets = {{1.0, 3}},
                                .count = 7,
                                .native = NativeHistogram{
                                    .schema = 5, .none = 2, .first = -3, .counts = {4, 0, 1}}}}});
  EXPECT_THAT(bytes, HasSubstr("\x08\x07\x11"s)) << "the count, and the key of the sum";
  EXPECT_THAT(bytes, HasSubstr("\x1a\x0b\x08\x03\x11"s)) << "the bucket of the text format";
  EXPECT_THAT(bytes, HasSubstr("\x28\x0a\x31"s)) << "the schema 5";
  EXPECT_THAT(bytes, HasSubstr("\x38\x02"s)) << "two of nothing";
  EXPECT_THAT(bytes, HasSubstr("\x62\x04\x08\x05\x10\x03"s)) << "a span of 3 from -3 on";
  EXPECT_THAT(bytes, HasSubstr("\x6a\x03\x08\x07\x02"s)) << "4, 4 less, 1 more";
}

}  // namespace
}  // namespace wattle::daemon
