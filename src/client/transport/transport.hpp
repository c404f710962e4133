// The interface for requests to daemons. Tests implement it in virtual time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace wattle::client {

/// How a request ended.
struct RequestEnding {
  int status = 0;         ///< of HTTP; 0: no head has arrived
  std::string failure{};  ///< the reason of a failure, safe to print; empty: success
};

/// Handles the answer to a request. Only `ended` may start or cancel a request. Threads: the
/// transport's.
class ResponseHandler {
 public:
  virtual ~ResponseHandler() = default;
  /// The head of the answer has arrived.
  virtual void began(int status) = 0;
  /// A part of the body. Return false to abort the request.
  [[nodiscard]] virtual bool received(std::string_view bytes) = 0;
  /// The last call.
  virtual void ended(const RequestEnding& ending) = 0;
};

using RequestId = std::uint64_t;

/// How a request is sent.
struct SendingOptions {
  std::chrono::milliseconds timeout{0};  ///< 0: none, once connected
  /// The most bytes of the body; a longer answer fails. 0: the handler decides.
  std::size_t most_bytes = 0;
  bool is_post = false;  ///< a POST without a body
  bool is_last = false;  ///< no other is expected soon, so the connection need not be kept
};

/// Threads: one at a time.
class RequestTransport {
 public:
  virtual ~RequestTransport() = default;
  /// Asks server number `server` for `target`. Calls `to` later, never from within `start`; `to`
  /// must live until `ended` or `cancel`.
  virtual RequestId start(std::size_t server, std::string_view target,
                          const SendingOptions& options, ResponseHandler& to) = 0;
  /// Its handler is not called any more. Does nothing if the request has ended.
  virtual void cancel(RequestId id) noexcept = 0;
};

}  // namespace wattle::client
