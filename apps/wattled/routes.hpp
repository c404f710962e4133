// The table of all that can be asked for.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "service.hpp"

namespace wattle::daemon {

struct Route {
  std::string_view method;
  std::string_view path;
  Needed needed;
  /// Throws `QueryFault` before it has answered.
  void (*handle)(Service&, const Request&, const std::shared_ptr<HttpExchange>&);
};

/// All of them.
[[nodiscard]] const std::vector<Route>& routes();

/// The route with that path, whatever its method; null where there is none.
[[nodiscard]] const Route* find_route(std::string_view path);

/// What asking for that path takes; where there is no such route, what zeusd asks for: nobody
/// learns what there is in a group that is off, or whose scope is missing.
[[nodiscard]] Needed needed_for(std::string_view path);

/// The errors of the devices that failed; absent where none did.
[[nodiscard]] std::optional<Response> failures_of(const Gpus::Answers& answers);

}  // namespace wattle::daemon
