#include "api/index_route.hpp"

#include <fmt/format.h>

#include <string>
#include <variant>

#include "api/dashboard.hpp"
#include "api/routes.hpp"

namespace wattle::daemon {
namespace {

std::string needs_text(const RouteRequirement& needed) {
  if (const Scope* const scope = std::get_if<Scope>(&needed)) {
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

}  // namespace

void index(Service& service, const Request& request,
           const std::shared_ptr<HttpExchange>& exchange) {
  const bool is_browser =
      request.head.accept && request.head.accept->find("text/html") != std::string::npos;
  if (service.options().serves_dashboard && is_browser) {
    const DashboardPage page = dashboard_page();
    return exchange->answer({.body = std::string(page.html),
                             .content_type = "text/html; charset=utf-8",
                             .policy = page.policy});
  }
  std::string text = fmt::format("wattled\n\n{:<6}  {:<36}  {}\n", "METHOD", "PATH", "NEEDS");
  for (const Route& route : routes()) {
    text += fmt::format("{:<6}  {:<36}  {}\n", route.method, route.path, needs_text(route.needed));
  }
  text += "\n/discover shows what this server has and what you may use.\n";
  exchange->answer({.body = std::move(text), .content_type = "text/plain; charset=utf-8"});
}

}  // namespace wattle::daemon
