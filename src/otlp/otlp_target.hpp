// Where telemetry is sent, and as whose: a URL, and the variables that all programs with
// OpenTelemetry read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "otlp/otlp_values.hpp"

namespace wattle::otlp {

/// Threads: a value type.
struct OtlpTarget {
  std::string url;                          ///< "http://collector:4318", without a slash at its end
  std::vector<std::string> header_lines{};  ///< "Authorization: Bearer ..."
  std::string ca_file{};                    ///< of the certificates to trust; empty: the system's
};

/// The URL of the requests with `signal`.
[[nodiscard]] std::string url_of(const OtlpTarget& target, OtlpSignal signal);

/// `url`: "http://HOST[:PORT][/PATH]", or https; "/v1/metrics" or "/v1/traces" follows. Takes
/// OTEL_EXPORTER_OTLP_HEADERS ("KEY=VALUE,...", percent-encoded) and
/// OTEL_EXPORTER_OTLP_CERTIFICATE. Throws `InvalidArgument`; a message shows no value of a header.
[[nodiscard]] OtlpTarget make_target(std::string_view url, const Environment& environment);

/// host.name, service.name, service.version; then OTEL_RESOURCE_ATTRIBUTES ("KEY=VALUE,...") and
/// OTEL_SERVICE_NAME, which replace them. What is none of that form is left out.
[[nodiscard]] OtlpAttributes make_resource(std::string_view service, std::string_view host,
                                           const Environment& environment);

}  // namespace wattle::otlp
