// The table of routes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "serve/service.hpp"

namespace wattle::daemon {

struct Route {
  std::string_view method;
  std::string_view path;
  RouteRequirement needed;
  /// Answers the request, or throws `QueryFault` before it has answered.
  void (*handle)(Service&, const Request&, const std::shared_ptr<HttpExchange>&);
};

/// All of them.
[[nodiscard]] const std::vector<Route>& routes();

/// Those that set GPUs.
[[nodiscard]] std::span<const Route> control_routes() noexcept;

/// The route with that path, for any method; null: none.
[[nodiscard]] const Route* find_route(std::string_view path);

/// The requirement of a request for `path`. For an unknown path, what zeusd requires: so the answer
/// does not show what exists in a disabled group or without its scope.
[[nodiscard]] RouteRequirement requirement_of(std::string_view path);

/// The errors of the devices that failed; absent: none failed.
[[nodiscard]] std::optional<Response> failures_of(
    const std::map<wire::DeviceId, DeviceFault>& faults);

}  // namespace wattle::daemon
