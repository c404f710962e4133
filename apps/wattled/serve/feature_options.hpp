// The options of what the daemon serves besides powers: --enable, shares, and --otlp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/token.hpp"
#include "base/text/cli11.hpp"
#include "shares/shared_energy.hpp"
#include "telemetry/telemetry.hpp"

namespace wattle::daemon {

struct EnabledGroups {
  std::vector<TokenScope> scopes;  ///< each once; if none is listed, those for reading
  bool has_dashboard = false;
  bool has_shares = false;
};

/// Throws `InvalidArgument` for an unknown word or an empty list.
[[nodiscard]] EnabledGroups enabled_groups(std::string_view list);

/// The options of --enable shares, as they were given.
struct RawShareOptions {
  std::string top = "200";
  std::string gpu_processes = "0";
  std::string interval = "5";
  std::string baseline;
  std::string kubelet;
  std::string pod_logs;
};

/// The names of these options, for those that have no effect.
inline constexpr auto kShareOptions = {"--shares-top",      "--shares-gpu-processes",
                                       "--shares-interval", "--shares-baseline",
                                       "--kubelet-dir",     "--pod-logs-dir"};

void add_share_options(CLI::App& serve, RawShareOptions& raw);
/// Without the system, and what strangers may see. Throws `InvalidArgument`.
[[nodiscard]] SharesOptions checked_shares(const RawShareOptions& raw);

/// The options of --otlp, as they were given.
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
