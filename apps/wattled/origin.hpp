// Requests that a page of some web site makes a browser send.
#pragma once

#include <optional>

#include "request_head.hpp"
#include "response.hpp"
#include "service.hpp"

namespace wattle::daemon {

/// The answer to such a request; absent for any other. Where only this machine reaches the server,
/// its name in the request must be one of this machine's: a site whose name was made to lead here
/// (DNS rebinding) says its own. Pages cannot open a Unix socket, and elsewhere there is a key.
[[nodiscard]] std::optional<Response> foreign_page(const RequestHead& head, const Peer& peer);

}  // namespace wattle::daemon
