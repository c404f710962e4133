// Requests to daemons, behind an interface, so that tests answer them in virtual time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace wattle::client {

/// How a request came to its end.
struct Ending {
  int status = 0;         ///< of HTTP; 0: no head has come
  std::string failure{};  ///< what went wrong, safe to print; empty: it ended in due form
};

/// Hears what becomes of a request. Threads: the transport's. None of these may start or cancel a
/// request, but for `ended`.
class ResponseHandler {
 public:
  virtual ~ResponseHandler() = default;
  /// The head of the answer is there.
  virtual void began(int status) = 0;
  /// A part of the body; false: no more of it is wanted, the request fails.
  [[nodiscard]] virtual bool received(std::string_view bytes) = 0;
  /// The last call.
  virtual void ended(const Ending& ending) = 0;
};

using RequestId = std::uint64_t;

/// Threads: one at a time.
class Transport {
 public:
  virtual ~Transport() = default;
  /// GETs `target` from the server at that place. `to` hears of it later, never at once, and lives
  /// until it has ended or was cancelled. `timeout` 0: as long as it takes, once there is a
  /// connection. `is_last`: no other request is expected soon, the connection need not be kept.
  virtual RequestId start(std::size_t server, std::string_view target,
                          std::chrono::milliseconds timeout, ResponseHandler& to, bool is_last) = 0;
  /// Nothing is heard of it any more. Does nothing where it has ended.
  virtual void cancel(RequestId id) noexcept = 0;
};

}  // namespace wattle::client
