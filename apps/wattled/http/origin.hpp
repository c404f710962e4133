// Which web pages may make a browser send requests.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "http/request_head.hpp"
#include "http/response.hpp"
#include "serve/service.hpp"

namespace wattle::daemon {

/// The refusal; absent: the request may go on. On a loopback address, the request's host must be a
/// name of this machine: with DNS rebinding it is the name of the site. Pages cannot open a Unix
/// socket, and other addresses need a key. Pages of `readers` (origins) may read, and change
/// nothing.
[[nodiscard]] std::optional<Response> refusal_of_foreign_page(
    const RequestHead& head, const Peer& peer, std::span<const std::string> readers = {});

/// The origin of a page of another machine, which the browser lets read the answer; empty: the
/// request comes from no such page, or from none of `readers`.
[[nodiscard]] std::string reading_origin(const RequestHead& head,
                                         std::span<const std::string> readers);

/// The answer to a browser that asks whether such a page may send a token.
[[nodiscard]] Response preflight_answer();

/// The origin of "HOST[:PORT]" or "http[s]://HOST[:PORT]", as a browser writes it; absent: it is
/// none, or an IPv6 address, which a Content-Security-Policy cannot name. Without a scheme it is
/// http on this machine and https elsewhere; without a port it is 4938.
[[nodiscard]] std::optional<std::string> parse_origin(std::string_view text);

}  // namespace wattle::daemon
