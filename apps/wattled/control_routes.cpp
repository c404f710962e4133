#include "control_routes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.hpp"
#include "log.hpp"
#include "wire/encode.hpp"

namespace wattle::daemon {
namespace {

using ExchangePtr = std::shared_ptr<HttpExchange>;
using Settings = std::vector<DeviceSetting>;

/// A request to set GPUs, understood.
struct Order {
  Ids ids;
  bool waits = true;  ///< the client waits for the result
  Settings settings;
};

// What each route sets, by its own parameters.

std::variant<Settings, QueryFault> power_limit(const UrlQuery& query) {
  const auto limit = required_number(query, "power_limit_mw");
  if (const auto* const fault = std::get_if<QueryFault>(&limit)) return *fault;
  return Settings{PowerLimit{std::get<std::uint32_t>(limit)}};
}

std::variant<Settings, QueryFault> persistence_mode(const UrlQuery& query) {
  const auto enabled = required_bool(query, "enabled");
  if (const auto* const fault = std::get_if<QueryFault>(&enabled)) return *fault;
  return Settings{PersistenceMode{std::get<bool>(enabled)}};
}

template <ClockKind kClock>
std::variant<Settings, QueryFault> locked_clocks(const UrlQuery& query) {
  const auto min = required_number(query, "min_clock_mhz");
  if (const auto* const fault = std::get_if<QueryFault>(&min)) return *fault;
  const auto max = required_number(query, "max_clock_mhz");
  if (const auto* const fault = std::get_if<QueryFault>(&max)) return *fault;
  return Settings{LockedClocks{kClock, std::get<std::uint32_t>(min), std::get<std::uint32_t>(max)}};
}

template <ClockKind... kClocks>
std::variant<Settings, QueryFault> free_clocks(const UrlQuery& /*query*/) {
  return Settings{FreeClocks{kClocks}...};
}

/// The GPUs that a list names; an answer in zeusd's words where there is no such GPU.
std::variant<Ids, Response> named_gpus(const UrlQuery& query, const Ids& known) {
  const auto list = query.find("gpu_ids");
  if (!list) return response_of(missing_field("gpu_ids"));
  const auto parsed = parse_ids(*list, IdKind::gpu);
  if (const auto* const fault = std::get_if<QueryFault>(&parsed)) return response_of(*fault);
  Ids ids;
  for (const std::uint64_t id : std::get<std::vector<std::uint64_t>>(parsed)) {
    if (std::ranges::find(known, id) == known.end()) {
      return text_response(400, fmt::format("GPU index {} does not exist.", id));
    }
    ids.push_back(static_cast<wire::DeviceId>(id));
  }
  return ids;
}

using SettingsOf = std::variant<Settings, QueryFault> (*)(const UrlQuery&);

std::variant<Order, Response> understood(const Request& request, const Ids& known,
                                         std::initializer_list<std::string_view> parameters,
                                         SettingsOf settings_of) {
  const auto parsed = UrlQuery::parse(request.target.query, parameters);
  if (const auto* const fault = std::get_if<QueryFault>(&parsed)) return response_of(*fault);
  const auto& query = std::get<UrlQuery>(parsed);
  Order order;
  auto ids = named_gpus(query, known);
  if (const auto* const refusal = std::get_if<Response>(&ids)) return *refusal;
  order.ids = std::get<Ids>(std::move(ids));
  const auto block = required_bool(query, "block");
  if (const auto* const fault = std::get_if<QueryFault>(&block)) return response_of(*fault);
  order.waits = std::get<bool>(block);
  auto settings = settings_of(query);
  if (const auto* const fault = std::get_if<QueryFault>(&settings)) return response_of(*fault);
  order.settings = std::get<Settings>(std::move(settings));
  return order;
}

/// Whom the log names: the token's subject, or who has the socket.
std::string who_asks(const Request& request) {
  if (!request.claims) return request.peer.name;
  return fmt::format("{} (token {}, {})", printable(request.claims->subject), request.token_id,
                     request.peer.name);
}

/// Every attempt is logged, with its outcome.
void log_outcome(const std::string& who, const Settings& settings, const Gpus::Answers& answers) {
  std::string what;
  for (const DeviceSetting& setting : settings) {
    what += (what.empty() ? "" : ", ") + to_string(setting);
  }
  for (const auto& [id, answer] : answers) {
    if (answer.fault) {
      log_warning(fmt::format("{} asked for GPU {}: {}; it failed: {}", who, id, what,
                              printable(answer.fault->message)));
    } else {
      log_info(fmt::format("{} set GPU {}: {}", who, id, what));
    }
  }
}

Response response_to(const Gpus::Answers& answers) {
  std::map<wire::DeviceId, std::string> messages;
  unsigned status = 200;
  for (const auto& [id, answer] : answers) {
    if (!answer.fault) continue;
    messages[id] = answer.fault->message;
    status = std::max(status, answer.fault->status);
  }
  return messages.empty() ? Response{}
                          : Response{.status = status, .body = wire::encode_errors(messages)};
}

void obey(Service& service, const Request& request, const ExchangePtr& exchange,
          std::initializer_list<std::string_view> parameters, SettingsOf settings_of) {
  auto order = understood(request, service.gpus().ids(), parameters, settings_of);
  if (const auto* const refusal = std::get_if<Response>(&order)) {
    return exchange->answer(*refusal);
  }
  auto& [ids, waits, settings] = std::get<Order>(order);
  service.control().set(ids, settings,
                        [who = who_asks(request), settings, waits,
                         exchange = waits ? exchange : nullptr](const Gpus::Answers& answers) {
                          log_outcome(who, settings, answers);
                          if (waits) exchange->answer(response_to(answers));
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
