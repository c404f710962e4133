#include "otlp/otlp_target.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "wattle/error.hpp"

namespace wattle::otlp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Environment variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> const char* {
    const auto found = values.find(name);
    return found != values.end() ? found->second.c_str() : nullptr;
  };
}

std::string refusal(const std::string& url, std::map<std::string, std::string> values = {}) {
  try {
    (void)make_target(url, variables(std::move(values)));
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

std::map<std::string, std::string> texts(const OtlpAttributes& attributes) {
  std::map<std::string, std::string> all;
  for (const OtlpAttribute& each : attributes) all[each.key] = std::get<std::string>(each.value);
  return all;
}

TEST(OtlpTarget, TheSignalsHavePathsOfTheirOwn) {
  const OtlpTarget target = make_target("http://collector:4318/", variables({}));
  EXPECT_EQ(url_of(target, OtlpSignal::metrics), "http://collector:4318/v1/metrics");
  EXPECT_EQ(url_of(target, OtlpSignal::traces), "http://collector:4318/v1/traces");
  EXPECT_EQ(url_of(make_target("https://x/api/otlp", variables({})), OtlpSignal::traces),
            "https://x/api/otlp/v1/traces");
}

TEST(OtlpTarget, RefusesWhatIsNoUrl) {
  for (const char* const url :
       {"", "collector:4318", "ftp://x", "http://", "http:///x", "http://:4318", "http://a b",
        "http://x?y", "http://x#y", "http://x\ny"}) {
    EXPECT_NE(refusal(url), "") << url;
  }
  EXPECT_NE(refusal("http://" + std::string(3000, 'x')), "");
}

TEST(OtlpTarget, RefusesAPasswordInTheUrlAndShowsItNowhere) {
  const std::string message = refusal("http://me:secret@x");
  EXPECT_THAT(message, HasSubstr("OTEL_EXPORTER_OTLP_HEADERS"));
  EXPECT_EQ(message.find("secret"), std::string::npos);
}

TEST(OtlpTarget, TakesHeadersFromTheEnvironment) {
  const OtlpTarget target = make_target(
      "http://x", variables({{"OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20a=b, x-id = 7"},
                             {"OTEL_EXPORTER_OTLP_CERTIFICATE", "/etc/ca.pem"}}));
  EXPECT_THAT(target.header_lines, ElementsAre("Authorization: Bearer a=b", "x-id: 7"));
  EXPECT_EQ(target.ca_file, "/etc/ca.pem");
}

TEST(OtlpTarget, AHeaderCannotStartAnotherOne) {
  for (const char* const list : {"a=b%0d%0ac: d", "a b=c", "a", "=c", "a%3a=c", "a=%00"}) {
    const std::string message = refusal("http://x", {{"OTEL_EXPORTER_OTLP_HEADERS", list}});
    EXPECT_THAT(message, HasSubstr("OTEL_EXPORTER_OTLP_HEADERS")) << list;
  }
}

TEST(OtlpTarget, TheResourceIsTheServiceOnItsHost) {
  const auto resource = texts(make_resource("wattled", "node-1", variables({})));
  EXPECT_EQ(resource.at("host.name"), "node-1");
  EXPECT_EQ(resource.at("service.name"), "wattled");
}

TEST(OtlpTarget, VariablesReplaceAttributesOfTheResource) {
  const auto resource = texts(make_resource(
      "wattle", "node-1",
      variables({{"OTEL_RESOURCE_ATTRIBUTES", "rack=a%2C1,service.name=x,host.name=n"},
                 {"OTEL_SERVICE_NAME", "training"}})));
  EXPECT_EQ(resource.at("rack"), "a,1");
  EXPECT_EQ(resource.at("host.name"), "n");
  EXPECT_EQ(resource.at("service.name"), "training");
}

TEST(OtlpTarget, AMalformedListOfAttributesIsLeftOut) {
  const auto resource =
      texts(make_resource("wattle", "n", variables({{"OTEL_RESOURCE_ATTRIBUTES", "a=b,c"}})));
  EXPECT_EQ(resource.count("a"), 0U);
  EXPECT_EQ(resource.at("service.name"), "wattle");
}

}  // namespace
}  // namespace wattle::otlp
