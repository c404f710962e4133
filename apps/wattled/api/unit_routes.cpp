#include "api/unit_routes.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/marks.hpp"
#include "base/text/parse.hpp"
#include "devices/served_units.hpp"
#include "units/unit_events.hpp"
#include "wire/message_json.hpp"

namespace wattle::daemon {
namespace {

using ExchangePtr = std::shared_ptr<HttpExchange>;

constexpr double kDefaultTimeoutS = 3600.0;
constexpr double kLongestTimeoutS = 86'400.0;

/// The units that may be shown to the caller, or changed. Null: the client has got an error.
ServedUnits* units_for(Service& service, const Request& request, const ExchangePtr& exchange) {
  ServedUnits* const units = service.units();
  if (units == nullptr) {
    exchange->answer(error_response(
        404,
        fmt::format("This server has no units of work: start wattled with --history {} or more.",
                    ServedUnits::kLeastHistory.count())));
    return nullptr;
  }
  if (!service.key() && !request.peer.is_local_socket) {
    exchange->answer(error_response(
        403,
        "Units of work over TCP need a token, and this server has no signing key; use its "
        "Unix socket."));
    return nullptr;
  }
  if (request.is_coarse) {
    exchange->answer(error_response(
        403, "Units of work show CPU energy more finely than this server does without a token."));
    return nullptr;
  }
  return units;
}

std::string unit_tag_in(const UrlQuery& query) {
  const std::string_view tag = query.text("tag");
  if (tag.empty() || tag.size() > kMostMarkBytes) {
    throw QueryFault(fmt::format("tag must have 1 to {} bytes", kMostMarkBytes),
                     QueryFault::Form::json);
  }
  return std::string(tag);
}

std::string unit_id_in(std::string_view id) {
  if (id.empty() || id.size() > kMostUnitIdBytes) {
    throw QueryFault(fmt::format("id must have 1 to {} bytes", kMostUnitIdBytes),
                     QueryFault::Form::json);
  }
  return std::string(id);
}

Response unit_refusal(ServedUnits::UnitStart start) {
  switch (start) {
    case ServedUnits::UnitStart::runs_already:
      return error_response(409, "A unit with this tag and id runs already.");
    case ServedUnits::UnitStart::invalid:
      return error_response(400, "This is no weight of a unit.");
    case ServedUnits::UnitStart::full:
    case ServedUnits::UnitStart::started:
      break;
  }
  return error_response(
      503, fmt::format("{} units run, and no more may run at once.", ServedUnits::kMostRunning));
}

void start_unit(Service& service, const Request& request, const ExchangePtr& exchange) {
  ServedUnits* const units = units_for(service, request, exchange);
  if (units == nullptr) return;
  const UrlQuery query =
      UrlQuery::parse(request.target.query, {"tag", "id", "weight", "timeout_s", "traceparent"});
  const auto id = query.find("id");
  const double timeout_s =
      query.number_from("timeout_s", 1.0, kLongestTimeoutS).value_or(kDefaultTimeoutS);
  StartedUnit unit{
      .tag = unit_tag_in(query),
      .id = id ? unit_id_in(*id) : units->make_id(),
      .weight =
          query.number_from("weight", detail::kLeastWeight, detail::kMostWeight).value_or(1.0),
      // One that is not valid is ignored: https://www.w3.org/TR/trace-context-2/
      .trace = parse_traceparent(query.find("traceparent").value_or("")),
      .timeout = std::chrono::seconds(static_cast<std::int64_t>(timeout_s))};
  const ServedUnits::UnitStart start = units->start(unit);
  if (start != ServedUnits::UnitStart::started) return exchange->answer(unit_refusal(start));
  exchange->answer({.body = fmt::format(R"({{"id":{}}})", wire::json_string(unit.id))});
}

void end_unit(Service& service, const Request& request, const ExchangePtr& exchange) {
  ServedUnits* const units = units_for(service, request, exchange);
  if (units == nullptr) return;
  const UrlQuery query = UrlQuery::parse(request.target.query, {"tag", "id", "work"});
  const std::string tag = unit_tag_in(query);
  const std::string id = unit_id_in(query.text("id"));
  const double work = query.number_from("work", 0.0, detail::kMostUnitWork).value_or(0.0);
  if (!units->end(tag, id, work)) {
    return exchange->answer(error_response(
        404,
        "No unit with this tag and id runs: it ended, its timeout passed, or the server was "
        "restarted."));
  }
  exchange->answer({.body = fmt::format(R"({{"id":{}}})", wire::json_string(id))});
}

void show_units(Service& service, const Request& request, const ExchangePtr& exchange) {
  ServedUnits* const units = units_for(service, request, exchange);
  if (units == nullptr) return;
  (void)UrlQuery::parse(request.target.query, {});
  const std::optional<double> since = units->since_unix_s();
  exchange->answer(
      {.body = fmt::format(
           R"({{"schema":"wattled.units/1","since_unix_s":{},"timed_out":{},"units":{}}})",
           since ? fmt::format("{:.3f}", *since) : "null", units->timed_out(),
           since ? units->report().to_json() : "null")});
}

constexpr RouteAccess kUnitAccess = RouteAccess::all_reading_scopes;

constexpr std::array kUnitRoutes = {
    Route{"GET", "/api/v1/units", kUnitAccess, show_units},
    Route{"POST", "/api/v1/units/start", kUnitAccess, start_unit},
    Route{"POST", "/api/v1/units/end", kUnitAccess, end_unit},
};

}  // namespace

bool may_see_units(const Service& service, const Request& request) noexcept {
  return (service.key() || request.peer.is_local_socket) && !request.is_coarse;
}

std::span<const Route> unit_routes() noexcept { return kUnitRoutes; }

std::optional<UnitMetrics> unit_metrics(Service& service) {
  ServedUnits* const units = service.units();
  if (units == nullptr || !units->since_unix_s()) return std::nullopt;
  return UnitMetrics{.report = units->report(),
                     .since_unix_s = *units->since_unix_s(),
                     .timed_out = units->timed_out()};
}

}  // namespace wattle::daemon
