#include "api/metrics_text.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace wattle::daemon {
namespace {

std::string prometheus(const MetricFamily& family) {
  return metrics_text({&family, 1}, MetricsFormat::prometheus);
}

std::string open_metrics(const MetricFamily& family) {
  return metrics_text({&family, 1}, MetricsFormat::open_metrics);
}

/// The one line of a gauge's text that is no comment.
std::string line_of(MetricSample sample) {
  const std::string text = prometheus({.name = "g", .help = "G.", .samples = {std::move(sample)}});
  return text.substr(text.find("gauge\n") + 6);
}

MetricFamily energy() {
  return {.name = "e_joules",
          .help = "E.",
          .unit = "joules",
          .kind = MetricKind::counter,
          .samples = {{{{"d", "0"}}, 1.5, 10.25}, {{{"d", "1"}}, 2, 11}}};
}

TEST(MetricsText, HasNothingOfAFamilyWithoutSamples) {
  EXPECT_EQ(prometheus({.name = "a", .help = "A."}), "");
  EXPECT_EQ(open_metrics({.name = "a", .help = "A."}), "# EOF\n");
}

TEST(MetricsText, HasNoBracesWithoutLabels) { EXPECT_EQ(line_of({{}, 2.5}), "g 2.5\n"); }

TEST(MetricsText, EscapesWhatLabelsHold) {
  EXPECT_EQ(line_of({{{"a", "x\\\"\n}y"}, {"b", "\xFF"}}, 1}),
            "g{a=\"x\\\\\\\"\\n}y\",b=\"\uFFFD\"} 1\n");
}

TEST(MetricsText, HasNumbersInFull) {
  EXPECT_EQ(line_of({{}, 123456789.000001}), "g 123456789.000001\n");
  EXPECT_EQ(line_of({{}, 0}), "g 0\n");
  EXPECT_EQ(line_of({{}, 1e300}), "g 1e+300\n");
}

TEST(MetricsText, HasWordsForWhatIsNoNumber) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(line_of({{}, std::numeric_limits<double>::quiet_NaN()}), "g NaN\n");
  EXPECT_EQ(line_of({{}, kInfinity}), "g +Inf\n");
  EXPECT_EQ(line_of({{}, -kInfinity}), "g -Inf\n");
}

TEST(MetricsText, OfACounterInPrometheusHasTheTimesOfCreationApart) {
  EXPECT_EQ(prometheus(energy()),
            "# HELP e_joules_total E.\n"
            "# TYPE e_joules_total counter\n"
            "e_joules_total{d=\"0\"} 1.5\n"
            "e_joules_total{d=\"1\"} 2\n"
            "# HELP e_joules_created Unix time at which e_joules_total started at 0.\n"
            "# TYPE e_joules_created gauge\n"
            "e_joules_created{d=\"0\"} 10.25\n"
            "e_joules_created{d=\"1\"} 11\n");
}

TEST(MetricsText, OfACounterInOpenMetricsHasTheTimesOfCreationBesideIt) {
  EXPECT_EQ(open_metrics(energy()),
            "# TYPE e_joules counter\n"
            "# UNIT e_joules joules\n"
            "# HELP e_joules E.\n"
            "e_joules_total{d=\"0\"} 1.5\n"
            "e_joules_created{d=\"0\"} 10.25\n"
            "e_joules_total{d=\"1\"} 2\n"
            "e_joules_created{d=\"1\"} 11\n"
            "# EOF\n");
}

TEST(MetricsText, OfAHistogram) {
  const MetricFamily family{.name = "h_joules",
                            .help = "H.",
                            .unit = "joules",
                            .kind = MetricKind::histogram,
                            .samples = {{.labels = {{"tag", "a"}},
                                         .value = 7.5,
                                         .created_unix_s = 10.25,
                                         .buckets = {{0.5, 1}, {2.0, 3}},
                                         .count = 4}}};
  const std::string lines =
      "h_joules_bucket{tag=\"a\",le=\"0.5\"} 1\n"
      "h_joules_bucket{tag=\"a\",le=\"2.0\"} 3\n"
      "h_joules_bucket{tag=\"a\",le=\"+Inf\"} 4\n"
      "h_joules_sum{tag=\"a\"} 7.5\n"
      "h_joules_count{tag=\"a\"} 4\n";
  EXPECT_EQ(prometheus(family),
            "# HELP h_joules H.\n# TYPE h_joules histogram\n" + lines +
                "# HELP h_joules_created Unix time at which h_joules started at 0.\n"
                "# TYPE h_joules_created gauge\nh_joules_created{tag=\"a\"} 10.25\n");
  EXPECT_EQ(open_metrics(family),
            "# TYPE h_joules histogram\n# UNIT h_joules joules\n# HELP h_joules H.\n" + lines +
                "h_joules_created{tag=\"a\"} 10.25\n# EOF\n");
}

TEST(MetricsText, OfFacts) {
  const MetricFamily build{
      .name = "b", .help = "B.", .kind = MetricKind::info, .samples = {{{{"version", "1"}}}}};
  EXPECT_EQ(prometheus(build), "# HELP b_info B.\n# TYPE b_info gauge\nb_info{version=\"1\"} 1\n");
  EXPECT_EQ(open_metrics(build), "# TYPE b info\n# HELP b B.\nb_info{version=\"1\"} 1\n# EOF\n");
}

TEST(MetricsFormat, IsPrometheusUnlessOpenMetricsIsAskedFor) {
  for (const char* accept :
       {"", "*/*", "text/plain", "text/html", ";;,,", "q=1", ",",
        "application/openmetrics-text;q=0", "application/openmetrics-text;version=0.0.1",
        "text/plain, application/openmetrics-text;q=0.5"}) {
    EXPECT_EQ(metrics_format(accept), MetricsFormat::prometheus) << accept;
  }
}

TEST(MetricsFormat, IsOpenMetricsForPrometheusItself) {
  for (const char* accept :
       {"application/openmetrics-text", "application/openmetrics-text; version=1.0.0",
        "application/openmetrics-text;version=1.0.0;q=0.5,"
        "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
        "text/plain;version=0.0.4;q=0.5,application/openmetrics-text;version=1.0.0"}) {
    EXPECT_EQ(metrics_format(accept), MetricsFormat::open_metrics) << accept;
  }
}

constexpr const char* kProtobuf =
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";

TEST(MetricsFormat, IsProtobufForAPrometheusWithNativeHistograms) {
  const std::string wanted = kProtobuf;
  for (const std::string& accept :
       {wanted, wanted + ";q=0.5,text/plain;q=0.4",
        // That of Prometheus 2.42.
        wanted + ",application/openmetrics-text;version=1.0.0;q=0.8,"
                 "application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,"
                 "*/*;q=0.1",
        std::string("application/vnd.google.protobuf ; encoding=delimited ; "
                    "proto=io.prometheus.client.MetricFamily")}) {
    EXPECT_EQ(metrics_format(accept), MetricsFormat::protobuf) << accept;
  }
}

TEST(MetricsFormat, IsTextForWhoCannotReadTheseMessages) {
  const std::string type = "application/vnd.google.protobuf";
  const std::string message = ";proto=io.prometheus.client.MetricFamily";
  for (const std::string& accept :
       {type, type + message, type + ";encoding=delimited", type + message + ";encoding=text",
        type + message + ";encoding=compact-text", type + ";proto=other;encoding=delimited",
        std::string(kProtobuf) + ";q=0", std::string(kProtobuf) + ";q=-1",
        std::string(kProtobuf) + ";q=nan", std::string(kProtobuf) + ";q=0.2,text/plain",
        type + message + message + ";encoding=", std::string(4096, ';') + type}) {
    EXPECT_EQ(metrics_format(accept), MetricsFormat::prometheus) << accept;
  }
}

TEST(MetricsFormat, NamesItself) {
  EXPECT_EQ(content_type_of(MetricsFormat::protobuf),
            "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
            "encoding=delimited");
  EXPECT_EQ(content_type_of(MetricsFormat::prometheus), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(content_type_of(MetricsFormat::open_metrics),
            "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

}  // namespace
}  // namespace wattle::daemon
