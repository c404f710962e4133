#include "serve/feature_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "base/environment.hpp"
#include "base/files/state_folder.hpp"
#include "base/text/option_words.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "serve/option_values.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

/// Groups that are no scope.
enum class Extra : std::uint8_t { dashboard, shares };
using Group = std::variant<TokenScope, Extra>;

constexpr auto kGroups = [] {
  WordTable<Group, kScopes.size() + 2> groups{};
  std::ranges::copy(kScopes, groups.begin());
  groups[kScopes.size()] = {"dashboard", Extra::dashboard};
  groups.back() = {"shares", Extra::shares};
  return groups;
}();

/// More rows would make a scrape long; `other` has the rest.
constexpr std::uint32_t kMostRows = 2000;
constexpr std::uint32_t kLongestShareInterval = 60;

constexpr std::uint32_t kLongestOtlpInterval = 3600;
constexpr std::uint32_t kMostSpoolMib = std::uint32_t{1} << 20U;

std::uint32_t number_in(const char* option, const std::string& text, std::uint32_t most,
                        std::uint32_t least = 1) {
  const auto number = parse_unsigned<std::uint32_t>(text);
  if (!number || *number < least || *number > most) {
    refuse_value(option, fmt::format("a whole number from {} to {}", least, most), text);
  }
  return *number;
}

}  // namespace

EnabledGroups enabled_groups(std::string_view list) {
  EnabledGroups enabled;
  for (const std::string& item : items_of(list)) {
    const Group group = value_of_word("--enable", item, kGroups);
    if (const Extra* const extra = std::get_if<Extra>(&group)) {
      (*extra == Extra::shares ? enabled.has_shares : enabled.has_dashboard) = true;
    } else if (std::ranges::count(enabled.scopes, std::get<TokenScope>(group)) == 0) {
      enabled.scopes.push_back(std::get<TokenScope>(group));
    }
  }
  if (!enabled.scopes.empty()) return enabled;
  if (!enabled.has_dashboard && !enabled.has_shares) {
    throw InvalidArgument("--enable takes a list of what to serve, not ''");
  }
  enabled.scopes = {TokenScope::gpu_read, TokenScope::cpu_read};
  return enabled;
}

void add_share_options(CLI::App& serve, RawShareOptions& raw) {
  serve
      .add_option("--shares-top", raw.top,
                  "Groups with counters of their own, with --enable shares; the others are 'other'")
      ->type_name("N");
  serve
      .add_option("--shares-gpu-processes", raw.gpu_processes,
                  "Processes on GPUs with counters of their own; the others are 'other' (0: none)")
      ->type_name("N");
  serve
      .add_option("--shares-interval", raw.interval,
                  "How often energy is divided among groups, 1 to 60")
      ->type_name("SECONDS");
  add_named(serve, "--shares-baseline", raw.baseline,
            "Idle power for shares: a file of wattle baseline (default: this user's)");
  add_named(serve, "--kubelet-dir", raw.kubelet,
            "The kubelet's folder, for the devices of pods (default: /var/lib/kubelet)", "DIR");
  add_named(serve, "--pod-logs-dir", raw.pod_logs,
            "Folder of the logs of pods, for their names (default: /var/log/pods)", "DIR");
}

SharesOptions checked_shares(const RawShareOptions& raw) {
  SharesOptions options;
  options.most_rows = number_in("--shares-top", raw.top, kMostRows);
  options.most_processes = number_in("--shares-gpu-processes", raw.gpu_processes, kMostRows, 0);
  options.interval =
      std::chrono::seconds(number_in("--shares-interval", raw.interval, kLongestShareInterval));
  options.places.baseline = raw.baseline;
  if (!raw.kubelet.empty()) options.places.kubelet.folder = raw.kubelet;
  if (!raw.pod_logs.empty()) options.places.kubelet.pod_logs = raw.pod_logs;
  return options;
}

void add_otlp_options(CLI::App& serve, RawOtlpOptions& raw) {
  add_named(serve, "--otlp", raw.url,
            "Push metrics, and spans of units of work, to this OpenTelemetry collector (OTLP over "
            "HTTP, JSON): http://HOST:4318",
            "URL");
  serve.add_option("--otlp-interval", raw.interval, "How often metrics are pushed, 1 to 3600")
      ->type_name("SECONDS");
  add_named(serve, "--otlp-spool", raw.spool,
            "Keep what the collector has not taken in this folder, so that it outlives the daemon "
            "(default: in memory)",
            "DIR");
  serve
      .add_option("--otlp-spool-size", raw.spool_mib,
                  "Most that --otlp-spool takes, in MiB; the oldest is dropped")
      ->type_name("MIB");
}

std::optional<TelemetryOptions> checked_otlp(const RawOtlpOptions& raw) {
  if (raw.url.empty()) return std::nullopt;
  return TelemetryOptions{
      .target = otlp::make_target(raw.url, environment_variable),
      .resource = otlp::make_resource("wattled", this_host(), environment_variable),
      .interval =
          std::chrono::seconds(number_in("--otlp-interval", raw.interval, kLongestOtlpInterval)),
      .spool = raw.spool,
      .spool_mib = number_in("--otlp-spool-size", raw.spool_mib, kMostSpoolMib)};
}

}  // namespace wattle::daemon
