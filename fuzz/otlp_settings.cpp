// Where telemetry is sent: the URL, and a line each of OTEL_EXPORTER_OTLP_HEADERS,
// OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME.
#include <map>
#include <string>
#include <string_view>

#include "base/json/json_read.hpp"
#include "base/text/split.hpp"
#include "check.hpp"
#include "otlp/otlp_target.hpp"
#include "otlp/otlp_values.hpp"
#include "wattle/error.hpp"

FUZZ_TARGET(otlp_settings)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  std::string_view text = fuzz::text_of(data, size);
  if (text.find('\0') != std::string_view::npos) return 0;  // no variable has it
  const std::string_view url = take_line(text);
  std::map<std::string, std::string> variables;
  for (const char* const name :
       {"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_SERVICE_NAME"}) {
    variables[name] = std::string(take_line(text));
  }
  const Environment environment = [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  const auto batch = otlp::metrics_batch(otlp::make_resource("service", "host", environment), {});
  fuzz::require(parse_json(batch.body).is_object(), "a request is JSON");
  try {
    const otlp::OtlpTarget target = otlp::make_target(url, environment);
    fuzz::require(target.url.starts_with("http"), "a URL is that of HTTP");
    fuzz::require(fuzz::is_clean(target.url), "a URL is printable");
    for (const std::string& line : target.header_lines) {
      fuzz::require(fuzz::is_clean(line) && line.find(": ") != std::string::npos,
                    "a header is one line");
    }
  } catch (const InvalidArgument& error) {
    fuzz::require(fuzz::is_clean(error.what()), "a refusal is safe to print");
  }
  return 0;
}
