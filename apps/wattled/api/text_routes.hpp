// The answers that are text, not JSON: / and /metrics.
#pragma once

#include <memory>

#include "serve/service.hpp"

namespace wattle::daemon {

/// The dashboard for a browser if it is enabled; else the list of all paths. The list is the same
/// for every caller and every daemon: it does not show what is enabled. Threads: the loop's.
void index(Service& service, const Request& request, const std::shared_ptr<HttpExchange>& exchange);

/// With `max_age=SECONDS` it may be that to another caller with the same rights: many pages that
/// ask every few seconds cost as much as one. Threads: the loop's.
void metrics(Service& service, const Request& request,
             const std::shared_ptr<HttpExchange>& exchange);

}  // namespace wattle::daemon
