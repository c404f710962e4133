#include "control_routes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "log.hpp"
#include "routes.hpp"

namespace wattle::daemon {
namespace {

using ExchangePtr = std::shared_ptr<HttpExchange>;
using Settings = std::vector<DeviceSetting>;

// The settings of each route, from its parameters.

Settings power_limit(const UrlQuery& query) { return {PowerLimit{query.number("power_limit_mw")}}; }

Settings persistence_mode(const UrlQuery& query) {
  return {PersistenceMode{query.boolean("enabled")}};
}

template <ClockKind kClock>
Settings locked_clocks(const UrlQuery& query) {
  return {LockedClocks{kClock, query.number("min_clock_mhz"), query.number("max_clock_mhz")}};
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
std::string who_asks(const Request& request) {
  if (!request.claims) return request.peer.name;
  return fmt::format("{} (token {}, {})", printable(request.claims->subject), request.token_id,
                     request.peer.name);
}

/// Logs every attempt, with its outcome.
void log_outcome(const std::string& who, const Settings& settings, const Gpus::Answers& answers) {
  std::string what;
  for (const DeviceSetting& setting : settings) {
    what += (what.empty() ? "" : ", ") + to_string(setting);
  }
  for (const auto& [id, answer] : answers) {
    if (answer.fault) {
      log_warning(fmt::format("{} could not set GPU {}: {}: {}", who, id, what,
                              printable(answer.fault->message)));
    } else {
      log_info(fmt::format("{} set GPU {}: {}", who, id, what));
    }
  }
}

void obey(Service& service, const Request& request, const ExchangePtr& exchange,
          std::initializer_list<std::string_view> parameters,
          Settings (*settings_of)(const UrlQuery&)) {
  const UrlQuery query = UrlQuery::parse(request.target.query, parameters);
  const Ids ids = named_gpus(query, service.gpus().ids());
  const bool waits = query.boolean("block");  // the client waits for the result
  const Settings settings = settings_of(query);
  service.control().set(ids, settings,
                        [who = who_asks(request), settings,
                         exchange = waits ? exchange : nullptr](const Gpus::Answers& answers) {
                          log_outcome(who, settings, answers);
                          if (exchange) exchange->answer(failures_of(answers).value_or(Response{}));
                        });
  if (!waits) exchange->answer({});
}

void set_power_limit(Service& service, const Request& request, const ExchangePtr& exchange) {
  obey(service, request, exchange, {"gpu_ids", "block", "power_limit_mw"}, power_limit);
}

void set_persistence_mode(Service& service, const Request& request, const ExchangePtr& exchange) {
  obey(service, request, exchange, {"gpu_ids", "block", "enabled"}, persistence_mode);
}

template <ClockKind kClock>
void lock_clocks(Service& service, const Request& request, const ExchangePtr& exchange) {
  obey(service, request, exchange, {"gpu_ids", "block", "min_clock_mhz", "max_clock_mhz"},
       locked_clocks<kClock>);
}

template <ClockKind... kClocks>
void reset_clocks(Service& service, const Request& request, const ExchangePtr& exchange) {
  obey(service, request, exchange, {"gpu_ids", "block"}, free_clocks<kClocks...>);
}

constexpr Scope kControl = Scope::gpu_control;
constexpr ClockKind kGpu = ClockKind::gpu;
constexpr ClockKind kMemory = ClockKind::memory;

constexpr std::array kControlRoutes = {
    Route{"POST", "/gpu/set_power_limit", kControl, set_power_limit},
    Route{"POST", "/gpu/set_persistence_mode", kControl, set_persistence_mode},
    Route{"POST", "/gpu/set_gpu_locked_clocks", kControl, lock_clocks<kGpu>},
    Route{"POST", "/gpu/reset_gpu_locked_clocks", kControl, reset_clocks<kGpu>},
    Route{"POST", "/gpu/set_mem_locked_clocks", kControl, lock_clocks<kMemory>},
    Route{"POST", "/gpu/reset_mem_locked_clocks", kControl, reset_clocks<kMemory>},
    Route{"POST", "/gpu/reset_locked_clocks", kControl, reset_clocks<kGpu, kMemory>},
};

}  // namespace

std::span<const Route> control_routes() noexcept { return kControlRoutes; }

}  // namespace wattle::daemon
