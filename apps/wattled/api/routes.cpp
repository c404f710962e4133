#include "api/routes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "api/energy_answer.hpp"
#include "api/power_answer.hpp"
#include "api/share_routes.hpp"
#include "api/text_routes.hpp"
#include "api/unit_routes.hpp"
#include "base/text/text.hpp"
#include "serve/wall_time.hpp"
#include "wattle/wattle.hpp"
#include "wire/message_json.hpp"

namespace wattle::daemon {
namespace {

using ExchangePtr = std::shared_ptr<HttpExchange>;

Response json(std::string body) { return {.body = std::move(body)}; }

enum class AskedBy : std::uint8_t { question, stream };

/// The devices in a query, or all devices.
Ids chosen_ids(const UrlQuery& query, IdKind kind, const Ids& known, AskedBy by) {
  const auto list = query.find(words_of(kind).parameter);
  if (!list) return known;
  Ids ids;
  std::vector<std::uint64_t> unknown;
  for (const std::uint64_t id : parse_ids(*list, kind)) {
    const bool exists = std::ranges::find(known, id) != known.end();
    if (exists) {
      ids.push_back(static_cast<wire::DeviceId>(id));
    } else {
      unknown.push_back(id);
    }
  }
  if (unknown.empty()) return ids;
  const std::string_view device = words_of(kind).device;
  if (by == AskedBy::question) {
    throw QueryFault(fmt::format("{} {} not found", device, unknown.front()),
                     QueryFault::Form::json);
  }
  throw QueryFault(fmt::format("Unknown {} indices: [{}]. Available: [{}]", device,
                               fmt::join(unknown, ", "), fmt::join(known, ", ")),
                   QueryFault::Form::json);
}

/// The ids of a query that has no other parameter.
Ids only_ids(const Request& request, IdKind kind, const Ids& known, AskedBy by) {
  return chosen_ids(UrlQuery::parse(request.target.query, {words_of(kind).parameter}), kind, known,
                    by);
}

/// The time whose events are sent together, of a query that may have ids too.
std::chrono::milliseconds hold_in(const UrlQuery& query) {
  constexpr std::uint32_t kMostMs = 1000;
  return std::chrono::milliseconds(query.whole_number_from("hold_ms", 0, kMostMs).value_or(0));
}

// --- everybody ---

/// A caller without a token gets only what it needs to use one.
void discover(Service& service, const Request& request, const ExchangePtr& exchange) {
  wire::Discovery discovery{.auth_required = service.key().has_value(),
                            .stream_format = service.options().streams.format};
  for (const TokenScope group :
       {TokenScope::gpu_control, TokenScope::gpu_read, TokenScope::cpu_read}) {
    if (service.is_enabled(group)) discovery.enabled_api_groups.emplace_back(name_of(group));
  }
  // Pages ask for shares only where they are.
  const SharedEnergy* const shares = service.shares();
  if (shares != nullptr && may_see_shares(*shares, request)) {
    discovery.enabled_api_groups.emplace_back("shares");
  }
  // Zeus's GPU classes want to find this group before they measure. Their setters are refused.
  if (service.is_enabled(TokenScope::gpu_read) && !service.is_enabled(TokenScope::gpu_control)) {
    discovery.disabled_api_groups.emplace_back(name_of(TokenScope::gpu_control));
  }
  auto& granted = discovery.granted_scopes.emplace();
  for (const TokenScope group :
       {TokenScope::gpu_control, TokenScope::gpu_read, TokenScope::cpu_read}) {
    if (service.grants(request, group)) granted.emplace_back(name_of(group));
  }
  if (service.lacks_token(request)) return exchange->answer(json(wire::encode(discovery)));
  if (request.is_coarse && service.grants(request, TokenScope::cpu_read)) {
    discovery.cpu_limit = public_cpu_limit(service.options().public_cpu_period);
  }
  discovery.gpus = service.gpus().entries();
  discovery.cpus = service.cpus().entries();
  for (const SensorRefusal& refusal : service.refused()) {
    if (refusal.absent) continue;
    discovery.refused.push_back({.subject = refusal.subject,
                                 .source = refusal.source,
                                 .reason = refusal.reason,
                                 .remedy = refusal.remedy});
  }
  exchange->answer(json(wire::encode(discovery)));
}

wire::UnixMs now_ms() {
  using namespace std::chrono;  // NOLINT(google-build-using-namespace)
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

void time(Service& /*service*/, const Request& /*request*/, const ExchangePtr& exchange) {
  exchange->answer(json(wire::encode_time(now_ms())));
}

void health(Service& service, const Request& request, const ExchangePtr& exchange) {
  const char* const status = service.has_lost_devices() ? "degraded" : "ok";
  if (service.lacks_token(request)) {
    return exchange->answer(json(fmt::format(R"({{"status":"{}"}})", status)));
  }
  exchange->answer(
      json(fmt::format(R"({{"status":"{}","version":"{}","gpus":{},"cpus":{},"uptime_s":{:.0f},)"
                       R"("host":{}}})",
                       status, version(), service.gpus().ids().size(), service.cpus().ids().size(),
                       Seconds(service.loop().now() - service.started()).count(),
                       wire::json_string_or_null(service.options().host))));
}

void whoami(Service& /*service*/, const Request& request, const ExchangePtr& exchange) {
  wire::Identity identity{.subject = request.claims->subject,
                          .expires_unix_s = request.claims->expires_unix_s};
  for (const TokenScope scope : request.claims->scopes)
    identity.scopes.emplace_back(name_of(scope));
  exchange->answer(json(wire::encode(identity)));
}

void sensors(Service& service, const Request& /*request*/, const ExchangePtr& exchange) {
  const auto channel_json = [](const Channel& channel) {
    return fmt::format(
        R"({{"domain":"{}","quantity":"{}","unit":"{}","scope":"{}","source":{},"place":{}}})",
        channel.domain.name(), to_string(channel.metric), unit_of(channel.metric),
        to_string(channel.scope), wire::json_string(channel.source),
        wire::json_string(channel.place));
  };
  const auto refused_json = [](const SensorRefusal& refusal) {
    return fmt::format(
        R"({{"subject":{},"source":{},"reason":{},"proof":{},"remedy":{},"absent":{}}})",
        wire::json_string(refusal.subject), wire::json_string(refusal.source),
        wire::json_string(refusal.reason), wire::json_string_or_null(refusal.proof),
        wire::json_string_or_null(refusal.remedy), refusal.absent);
  };
  exchange->answer(
      json(fmt::format(R"({{"schema":"wattled.sensors/1","channels":[{}],"refused":[{}]}})",
                       joined(service.channels(), ",", channel_json),
                       joined(service.refused(), ",", refused_json))));
}

/// The period to which the ends of a window are rounded; 0: they are not.
std::chrono::milliseconds window_period(const Service& service, const Request& request) {
  return request.is_coarse ? service.options().public_cpu_period : std::chrono::milliseconds(0);
}

void energy(Service& service, const Request& request, const ExchangePtr& exchange) {
  const std::string_view query = request.target.query;
  const EnergyKind kind{.query = std::string(query), .is_coarse = request.is_coarse};
  const TimePoint now = service.loop().now();
  if (const std::string* const known =
          service.energy_cache().find(kind, now - accepted_age(query))) {
    return exchange->answer(json(*known));
  }
  const Response made =
      energy_answer(service.energy_history(), query, window_period(service, request));
  const bool is_for_all = accepted_age(query) > std::chrono::seconds(0);
  if (is_for_all && made.status == 200) service.energy_cache().keep(kind, now, made.body);
  exchange->answer(made);
}

void power_history(Service& service, const Request& request, const ExchangePtr& exchange) {
  exchange->answer(power_answer(service.energy_history(), request.target.query,
                                window_period(service, request)));
}

// --- GPUs ---

/// The answers have no fault.
std::map<wire::DeviceId, std::uint64_t> values_of(const Gpus& gpus, const Gpus::Answers& answers,
                                                  GpuQuestion question) {
  std::map<wire::DeviceId, std::uint64_t> values;
  for (const auto& [id, answer] : answers) {
    values[id] = value_of(answer, gpus.sensor(id), question).value();
  }
  return values;
}

/// The answers have no fault.
template <class Setting>
std::map<wire::DeviceId, Setting> settings_of(const Gpus::Answers& answers,
                                              std::optional<Setting> DeviceSettings::*setting) {
  std::map<wire::DeviceId, Setting> settings;
  for (const auto& [id, answer] : answers) settings[id] = (answer.settings.*setting).value();
  return settings;
}

std::string power_json(const Gpus& gpus, const Gpus::Answers& answers) {
  return wire::encode(wire::GpuPowersAt{now_ms(), values_of(gpus, answers, GpuQuestion::power)});
}

std::string energy_json(const Gpus& gpus, const Gpus::Answers& answers) {
  return wire::encode_gpu_energies(values_of(gpus, answers, GpuQuestion::energy));
}

std::string limit_json(const Gpus& /*gpus*/, const Gpus::Answers& answers) {
  return wire::encode_power_limits(settings_of(answers, &DeviceSettings::power_limit_mw));
}

std::string limit_range_json(const Gpus& /*gpus*/, const Gpus::Answers& answers) {
  std::map<wire::DeviceId, wire::PowerLimitRange> ranges;
  for (const auto& [id, range] : settings_of(answers, &DeviceSettings::power_limit_range_mw)) {
    ranges[id] = {range.first, range.second};
  }
  return wire::encode_power_limit_ranges(ranges);
}

std::string persistence_json(const Gpus& /*gpus*/, const Gpus::Answers& answers) {
  return wire::encode_persistence_modes(settings_of(answers, &DeviceSettings::persistence_mode));
}

template <GpuQuestion kQuestion, std::string (*kText)(const Gpus&, const Gpus::Answers&)>
void ask_gpus(Service& service, const Request& request, const ExchangePtr& exchange) {
  Gpus& gpus = service.gpus();
  const Ids ids = only_ids(request, IdKind::gpu, gpus.ids(), AskedBy::question);
  gpus.ask(ids, kQuestion, [&gpus, exchange](const Gpus::Answers& answers) {
    std::map<wire::DeviceId, DeviceFault> faults;
    for (const auto& [id, answer] : answers) {
      if (const auto fault = fault_of(answer, gpus.sensor(id), kQuestion)) faults[id] = *fault;
    }
    auto failures = failures_of(faults);
    exchange->answer(failures ? std::move(*failures) : json(kText(gpus, answers)));
  });
}

void stream_gpus(Service& service, const Request& request, const ExchangePtr& exchange) {
  const auto query = UrlQuery::parse(request.target.query, {"gpu_ids", "hold_ms"});
  const Ids ids = chosen_ids(query, IdKind::gpu, service.gpus().ids(), AskedBy::stream);
  const auto hold = hold_in(query);
  if (Subscriber* const subscriber = service.open_stream(request, *exchange)) {
    service.gpu_stream().subscribe(*subscriber, ids, hold);
  }
}

// --- CPUs ---

/// A counter that does not move for a moment has no power, but still an energy.
constexpr std::chrono::seconds kStillPatience{1};

Response cpu_errors(const std::map<wire::DeviceId, std::string>& messages) {
  return {.status = 500, .body = wire::encode_errors(messages)};
}

void cpu_energy(Service& service, const Request& request, const ExchangePtr& exchange) {
  const UrlQuery query = UrlQuery::parse(request.target.query, {"cpu", "dram", "cpu_ids"});
  const bool cpu = query.boolean("cpu");
  const bool dram = query.boolean("dram");
  const Ids ids = chosen_ids(query, IdKind::cpu, service.cpus().ids(), AskedBy::question);

  std::map<wire::DeviceId, wire::CpuEnergy> energies;
  std::map<wire::DeviceId, std::string> errors;
  const auto known = [](const CounterState& state) -> std::optional<std::uint64_t> {
    if (!reason_of(state, kStillPatience).empty()) return std::nullopt;
    return static_cast<std::uint64_t>(state.energy_uj);
  };
  for (const auto& [id, state] : service.view(request).read(ids)) {
    wire::CpuEnergy& energy = energies[id];
    if (cpu) energy.cpu_uj = known(state.cpu);
    if (dram && state.dram) energy.dram_uj = known(*state.dram);
    // As with the power, an unknown DRAM energy is null and does not hide the CPU.
    if (cpu && !energy.cpu_uj) {
      errors[id] = fmt::format("IOError: {}", reason_of(state.cpu, kStillPatience));
    } else if (!cpu && dram && state.dram && !energy.dram_uj) {
      errors[id] = fmt::format("IOError: {}", reason_of(*state.dram, kStillPatience));
    }
    energy.since_ms = std::max(state.cpu.since_ms, state.dram ? state.dram->since_ms : 0);
    energy.timestamp_ms = unix_ms(state.cpu.at);
    energy.domain = service.cpus().channels(id).first->domain.name();
  }
  exchange->answer(errors.empty() ? json(wire::encode_cpu_energies(energies)) : cpu_errors(errors));
}

/// The mean powers between two readings of the counters.
Response cpu_powers(const CpuView& view, const CpuStates& before, const CpuStates& after) {
  wire::CpuPowersAt powers;
  std::map<wire::DeviceId, std::string> errors;
  for (const auto& [id, state] : after) {
    powers.timestamp_ms = std::max(powers.timestamp_ms, unix_ms(state.cpu.at));
    const CounterPowers found = view.powers(id, before.at(id), state);
    if (const auto cpu_mw = milliwatts(found.cpu)) {
      const auto dram_mw = found.dram ? milliwatts(*found.dram) : std::nullopt;
      powers.powers[id] = {.cpu_mw = *cpu_mw, .dram_mw = dram_mw};
    } else {
      errors[id] = fmt::format("IOError: {}", found.cpu.reason);
    }
  }
  return errors.empty() ? json(wire::encode(powers)) : cpu_errors(errors);
}

void cpu_power(Service& service, const Request& request, const ExchangePtr& exchange) {
  const Ids ids = only_ids(request, IdKind::cpu, service.cpus().ids(), AskedBy::question);
  CpuView& view = service.view(request);
  CpuStates before = view.read(ids);
  const auto period = std::max(service.options().streams.cpu_period, view.least_period());
  const std::shared_ptr<Timer> timer = service.loop().make_timer();
  // The timer holds what it calls, which holds the timer until it has been called.
  timer->start(service.loop().now() + period,
               [timer, exchange, &view, ids, before = std::move(before)] {
                 exchange->answer(cpu_powers(view, before, view.read(ids)));
               });
}

void stream_cpus(Service& service, const Request& request, const ExchangePtr& exchange) {
  const auto query = UrlQuery::parse(request.target.query, {"cpu_ids", "hold_ms"});
  const Ids ids = chosen_ids(query, IdKind::cpu, service.cpus().ids(), AskedBy::stream);
  const auto hold = hold_in(query);
  if (Subscriber* const subscriber = service.open_stream(request, *exchange)) {
    service.cpu_stream(request).subscribe(*subscriber, ids, hold);
  }
}

constexpr TokenScope kGpuRead = TokenScope::gpu_read;
constexpr TokenScope kCpuRead = TokenScope::cpu_read;

constexpr std::array kReadRoutes = {
    Route{"GET", "/", RouteAccess::everybody, index},
    Route{"GET", "/discover", RouteAccess::everybody, discover},
    Route{"GET", "/time", RouteAccess::everybody, time},
    Route{"GET", "/health", RouteAccess::everybody, health},
    Route{"GET", "/auth/whoami", RouteAccess::token_if_key_is_set, whoami},
    Route{"GET", "/metrics", RouteAccess::all_reading_scopes, metrics},
    Route{"GET", "/api/v1/sensors", RouteAccess::any_token, sensors},
    Route{"GET", "/api/v1/energy", RouteAccess::all_reading_scopes, energy},
    Route{"GET", "/api/v1/power", RouteAccess::all_reading_scopes, power_history},

    Route{"GET", "/gpu/get_power", kGpuRead, ask_gpus<GpuQuestion::power, power_json>},
    Route{"GET", "/gpu/stream_power", kGpuRead, stream_gpus},
    Route{"GET", "/gpu/get_cumulative_energy", kGpuRead,
          ask_gpus<GpuQuestion::energy, energy_json>},
    Route{"GET", "/gpu/get_power_limit", kGpuRead, ask_gpus<GpuQuestion::power_limit, limit_json>},
    Route{"GET", "/gpu/get_power_limit_constraints", kGpuRead,
          ask_gpus<GpuQuestion::power_limit_range, limit_range_json>},
    Route{"GET", "/gpu/get_persistence_mode", kGpuRead,
          ask_gpus<GpuQuestion::persistence_mode, persistence_json>},

    Route{"GET", "/cpu/get_cumulative_energy", kCpuRead, cpu_energy},
    Route{"GET", "/cpu/get_power", kCpuRead, cpu_power},
    Route{"GET", "/cpu/stream_power", kCpuRead, stream_cpus},
};

}  // namespace

const std::vector<Route>& routes() {
  static const std::vector<Route> all = [] {
    std::vector<Route> made(kReadRoutes.begin(), kReadRoutes.end());
    made.insert(made.end(), unit_routes().begin(), unit_routes().end());
    made.insert(made.end(), share_routes().begin(), share_routes().end());
    made.insert(made.end(), control_routes().begin(), control_routes().end());
    return made;
  }();
  return all;
}

const Route* find_route(std::string_view path) {
  const auto found = std::ranges::find(routes(), path, &Route::path);
  return found == routes().end() ? nullptr : &*found;
}

std::optional<Response> failures_of(const std::map<wire::DeviceId, DeviceFault>& faults) {
  std::map<wire::DeviceId, std::string> messages;
  unsigned status = 0;
  for (const auto& [id, fault] : faults) {
    messages[id] = fault.message;
    status = std::max(status, fault.status);
  }
  if (messages.empty()) return std::nullopt;
  return Response{.status = status, .body = wire::encode_errors(messages)};
}

RouteRequirement requirement_of(std::string_view path) {
  if (const Route* const route = find_route(path)) return route->needed;
  if (path.starts_with("/gpu/set_") || path.starts_with("/gpu/reset_"))
    return TokenScope::gpu_control;
  if (path.starts_with("/gpu/")) return TokenScope::gpu_read;
  if (path.starts_with("/cpu/")) return TokenScope::cpu_read;
  return path.starts_with("/auth/") ? RouteAccess::token_if_key_is_set : RouteAccess::any_token;
}

}  // namespace wattle::daemon
