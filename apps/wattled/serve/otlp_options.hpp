// The options of --otlp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "telemetry/telemetry.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace wattle::daemon {

/// As they were given.
struct RawOtlpOptions {
  std::string url;  ///< empty: not given
  std::string interval = "10";
  std::string spool;
  std::string spool_mib = "64";
};

/// The names of these options, for those that have no effect without --otlp.
inline constexpr auto kOtlpOptions = {"--otlp-interval", "--otlp-spool", "--otlp-spool-size"};

void add_otlp_options(CLI::App& serve, RawOtlpOptions& raw);
/// With the variables of OpenTelemetry. Absent without --otlp. Throws `InvalidArgument`.
[[nodiscard]] std::optional<TelemetryOptions> checked_otlp(const RawOtlpOptions& raw);

}  // namespace wattle::daemon
