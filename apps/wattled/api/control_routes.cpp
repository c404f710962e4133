// The routes that set GPUs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "api/routes.hpp"
#include "base/text/text.hpp"
#include "serve/log.hpp"

namespace wattle::daemon {
namespace {

using ExchangePtr = std::shared_ptr<HttpExchange>;
using Settings = std::vector<DeviceSetting>;

// The parameters beside "gpu_ids" and "block", and the settings that each route makes of its own.

constexpr std::string_view kLimit = "power_limit_mw";
constexpr std::string_view kEnabled = "enabled";
constexpr std::string_view kMin = "min_clock_mhz";
constexpr std::string_view kMax = "max_clock_mhz";

Settings power_limit(const UrlQuery& query) { return {PowerLimit{query.number(kLimit)}}; }

Settings persistence_mode(const UrlQuery& query) {
  return {PersistenceMode{query.boolean(kEnabled)}};
}

template <ClockKind kClock>
Settings locked_clocks(const UrlQuery& query) {
  return {LockedClocks{kClock, query.number(kMin), query.number(kMax)}};
}

template <ClockKind... kClocks>
Settings free_clocks(const UrlQuery& /*query*/) {
  return {FreeClocks{kClocks}...};
}

/// The GPUs in a list. Throws zeusd's error for a GPU that does not exist.
Ids named_gpus(const UrlQuery& query, const Ids& known) {
  Ids ids;
  for (const std::uint64_t id : parse_ids(query.text("gpu_ids"), IdKind::gpu)) {
    if (std::ranges::find(known, id) == known.end()) {
      throw QueryFault(fmt::format("GPU index {} does not exist.", id));
    }
    ids.push_back(static_cast<wire::DeviceId>(id));
  }
  return ids;
}

/// The caller's name in the log: the token's subject, or the peer.
std::string caller_name(const Request& request) {
  if (!request.claims) return request.peer.name;
  return fmt::format("{} (token {}, {})", printable(request.claims->subject), request.token_id,
                     request.peer.name);
}

std::string list_of(const Settings& settings) {
  return joined(settings, ", ", [](const DeviceSetting& setting) { return to_string(setting); });
}

/// Logs every change and every failure.
void log_outcomes(const std::string& who, const Settings& settings,
                  const GpuControl::Outcomes& outcomes) {
  const std::string what = list_of(settings);
  for (const auto& [id, outcome] : outcomes) {
    if (outcome.fault) {
      log_warning(fmt::format("{} could not set GPU {}: {}: {}", who, id, what,
                              printable(outcome.fault->message)));
    } else if (!outcome.is_superseded) {
      log_info(fmt::format("{} set GPU {}: {}{}", who, id, what,
                           outcome.superseded == 0
                               ? ""
                               : fmt::format(" (supersedes {} earlier requests that were not made)",
                                             outcome.superseded)));
    }
  }
}

Response response_of(const GpuControl::Outcomes& outcomes) {
  std::map<wire::DeviceId, DeviceFault> faults;
  for (const auto& [id, outcome] : outcomes) {
    if (outcome.fault) faults[id] = *outcome.fault;
  }
  return failures_of(faults).value_or(Response{});
}

void change_settings(Service& service, const Request& request, const ExchangePtr& exchange,
                     const UrlQuery& query, Settings (*settings_of)(const UrlQuery&)) {
  const Ids ids = named_gpus(query, service.gpus().ids());
  const bool waits = query.boolean("block");  // the client waits for the result
  const Settings settings = settings_of(query);
  const auto fault = service.control().set(
      ids, settings, waits ? GpuControl::Caller::waits : GpuControl::Caller::goes_on,
      [who = caller_name(request), settings,
       exchange = waits ? exchange : nullptr](const GpuControl::Outcomes& outcomes) {
        log_outcomes(who, settings, outcomes);
        if (exchange) exchange->answer(response_of(outcomes));
      });
  if (fault) {
    GpuControl::Outcomes refused;
    for (const wire::DeviceId id : ids) refused[id].fault = fault;
    log_outcomes(caller_name(request), settings, refused);
    exchange->answer(response_of(refused));
  } else if (!waits) {
    exchange->answer({});
  }
}

/// Handles a route with these parameters.
template <Settings (*kSettingsOf)(const UrlQuery&), const std::string_view&... kParameters>
void set(Service& service, const Request& request, const ExchangePtr& exchange) {
  change_settings(service, request, exchange,
                  UrlQuery::parse(request.target.query, {"gpu_ids", "block", kParameters...}),
                  kSettingsOf);
}

constexpr TokenScope kControl = TokenScope::gpu_control;
constexpr ClockKind kGpu = ClockKind::gpu;
constexpr ClockKind kMemory = ClockKind::memory;

constexpr std::array kControlRoutes = {
    Route{"POST", "/gpu/set_power_limit", kControl, set<power_limit, kLimit>},
    Route{"POST", "/gpu/set_persistence_mode", kControl, set<persistence_mode, kEnabled>},
    Route{"POST", "/gpu/set_gpu_locked_clocks", kControl, set<locked_clocks<kGpu>, kMin, kMax>},
    Route{"POST", "/gpu/reset_gpu_locked_clocks", kControl, set<free_clocks<kGpu>>},
    Route{"POST", "/gpu/set_mem_locked_clocks", kControl, set<locked_clocks<kMemory>, kMin, kMax>},
    Route{"POST", "/gpu/reset_mem_locked_clocks", kControl, set<free_clocks<kMemory>>},
    Route{"POST", "/gpu/reset_locked_clocks", kControl, set<free_clocks<kGpu, kMemory>>},
};

}  // namespace

std::span<const Route> control_routes() noexcept { return kControlRoutes; }

}  // namespace wattle::daemon
