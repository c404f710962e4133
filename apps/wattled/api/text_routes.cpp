#include "api/text_routes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/compat_metrics.hpp"
#include "api/dashboard.hpp"
#include "api/metrics.hpp"
#include "api/metrics_text.hpp"
#include "api/routes.hpp"
#include "api/share_routes.hpp"
#include "api/unit_routes.hpp"
#include "base/text/split.hpp"
#include "wattle/error.hpp"
#include "wattle/wattle.hpp"

namespace wattle::daemon {
namespace {

std::string needs_text(const RouteRequirement& needed) {
  if (const TokenScope* const scope = std::get_if<TokenScope>(&needed)) {
    return fmt::format("scope {}", name_of(*scope));
  }
  switch (std::get<RouteAccess>(needed)) {
    case RouteAccess::all_reading_scopes:
      return "all scopes for reading";
    case RouteAccess::any_token:
    case RouteAccess::token_if_key_is_set:
      return "any token";
    case RouteAccess::everybody:
      break;
  }
  return "-";
}

/// Puts `more` after the first `place` in a part of the page, which is built with it.
void insert_behind(std::string& text, std::string_view place, const std::string& more) {
  text.insert(text.find(place) + place.size(), more);
}

/// The machines that the page follows: those of the options, and those that its user entered.
std::vector<std::string> followed_machines(const PageOptions& pages, std::string_view query) {
  std::vector<std::string> machines = pages.machines;
  if (!pages.takes_machines) return machines;
  const auto entered = UrlQuery::parse(query, {"machines"}).find("machines");
  if (!entered) return machines;
  try {
    for (std::string& origin : origins_of("machines", *entered)) {
      if (std::ranges::count(machines, origin) == 0) machines.push_back(std::move(origin));
    }
  } catch (const InvalidArgument& error) {
    throw QueryFault(error.what());
  }
  return machines;
}

/// The page may ask this daemon and these machines, and nobody else.
Response dashboard(const PageOptions& pages, std::string_view query) {
  const DashboardPage page = dashboard_page();
  Response answer{.body = std::string(page.html),
                  .content_type = "text/html; charset=utf-8",
                  .policy = std::string(page.policy)};
  std::string list;
  for (const std::string& origin : followed_machines(pages, query)) list += " " + origin;
  insert_behind(answer.policy, "connect-src 'self'", list);
  insert_behind(answer.body, R"(<meta name="machines" content=")",
                pages.takes_machines ? "any" + list : list);
  return answer;
}

}  // namespace

void index(Service& service, const Request& request,
           const std::shared_ptr<HttpExchange>& exchange) {
  const bool is_browser =
      request.head.accept && request.head.accept->find("text/html") != std::string::npos;
  if (service.options().serves_dashboard && is_browser) {
    return exchange->answer(dashboard(service.options().pages, request.target.query));
  }
  std::string text = fmt::format("wattled\n\n{:<6}  {:<36}  {}\n", "METHOD", "PATH", "NEEDS");
  for (const Route& route : routes()) {
    text += fmt::format("{:<6}  {:<36}  {}\n", route.method, route.path, needs_text(route.needed));
  }
  text += "\n/discover shows what this server has and what you may use.\n";
  exchange->answer({.body = std::move(text), .content_type = "text/plain; charset=utf-8"});
}

void metrics(Service& service, const Request& request,
             const std::shared_ptr<HttpExchange>& exchange) {
  const MetricsFormat format = metrics_format(request.head.accept.value_or(""));
  const bool has_units = may_see_units(service, request);
  const SharedEnergy* shares = service.shares();
  if (shares != nullptr && !may_see_shares(*shares, request)) shares = nullptr;
  const MetricsCache::Kind kind{.format = format,
                                .is_coarse = request.is_coarse,
                                .has_units = has_units,
                                .has_shares = shares != nullptr};
  const std::string_view type = content_type_of(format);
  const auto oldest = service.loop().now() - accepted_age(request.target.query);
  if (const std::string* const known = service.metrics_cache().find(kind, oldest)) {
    return exchange->answer({.body = *known, .content_type = type});
  }
  service.scrape().gather(service.view(request), [&service, exchange, kind, type,
                                                  shares](std::vector<DomainMetrics> domains) {
    DaemonMetrics all{.version = std::string(version()),
                      .started_unix_s = service.scrape().started_unix_s(),
                      .own = own_cost(),
                      .domains = std::move(domains),
                      .dropped = {{"slow_reader", service.dropped()}}};
    if (kind.has_units) all.units = unit_metrics(service);
    for (const TurnedAway reason : kTurnedAway) {
      all.turned_away.push_back({std::string(name_of(reason)), service.turned_away()[reason]});
    }
    for (const SensorRefusal& refusal : service.refused()) {
      if (!refusal.absent) {
        all.refused.push_back({refusal.source, refusal.subject, refusal.reason});
      }
    }
    std::vector<MetricFamily> families = families_of(all);
    for (const Exporter exporter : service.options().compat_metrics) {
      std::ranges::move(compat_families(exporter, all.domains, service.options().host),
                        std::back_inserter(families));
    }
    if (shares != nullptr) add_share_families(*shares, families);
    std::string text = metrics_text(families, kind.format);
    service.metrics_cache().keep(kind, service.loop().now(), text);
    exchange->answer({.body = std::move(text), .content_type = type});
  });
}

}  // namespace wattle::daemon
