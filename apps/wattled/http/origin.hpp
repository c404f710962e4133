// Refuses requests that a web page of another site makes a browser send.
#pragma once

#include <optional>

#include "http/request_head.hpp"
#include "http/response.hpp"
#include "serve/service.hpp"

namespace wattle::daemon {

/// The refusal; absent: the request may go on. On a loopback address, the request's host must be a
/// name of this machine: with DNS rebinding it is the name of the site. Pages cannot open a Unix
/// socket, and other addresses need a key.
[[nodiscard]] std::optional<Response> refusal_of_foreign_page(const RequestHead& head,
                                                              const Peer& peer);

}  // namespace wattle::daemon
