// An HTTP answer.
#pragma once

#include <string>
#include <string_view>

#include "http/target.hpp"

namespace wattle::daemon {

struct Response {
  unsigned status = 200;
  std::string body{};
  std::string_view content_type = "application/json";  ///< omitted without a body
  /// The `WWW-Authenticate` of a 401; empty: none.
  std::string_view challenge{};
  /// The `Content-Security-Policy` of a page; empty: none.
  std::string policy{};
  /// It permits the page that asks to send requests with a token.
  bool is_preflight = false;
};

/// The whole answer, head and body. `reader`: the origin of a page of another machine that may read
/// it; empty: none.
[[nodiscard]] std::string render(const Response& response, bool keeps_alive,
                                 std::string_view reader = {});
/// The head of a stream. Its body follows in chunks, without end.
[[nodiscard]] std::string stream_head(std::string_view reader = {});

/// `{"error":"..."}`
[[nodiscard]] Response error_response(unsigned status, std::string_view message);
/// zeusd's answer to such a query.
[[nodiscard]] Response response_of(const QueryFault& fault);

}  // namespace wattle::daemon
