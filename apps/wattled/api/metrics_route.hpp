// The answer to /metrics.
#pragma once

#include <memory>

#include "serve/service.hpp"

namespace wattle::daemon {

/// With `max_age=SECONDS` it may be that to another caller with the same rights: many pages that
/// ask every few seconds cost as much as one. Threads: the loop's.
void metrics(Service& service, const Request& request,
             const std::shared_ptr<HttpExchange>& exchange);

}  // namespace wattle::daemon
