// The interface for requests to daemons, which tests implement in virtual time; and single requests
// to one daemon, one after the other.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"

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

/// The outcome of a request.
struct InquiryAnswer {
  int status = 0;         ///< 0: no answer
  std::string body{};     ///< of at most 1 MiB: a thousand GPUs are 200 KiB
  std::string failure{};  ///< why there is no complete answer; empty: there is one
  TimePoint sent_at{};
  TimePoint received_at{};

  [[nodiscard]] bool is_good() const noexcept { return failure.empty() && status == 200; }
  /// Why it is not good, safe to print: the failure, or the daemon's own text.
  [[nodiscard]] std::string reason() const;
};

/// "answers 404: ...", with the daemon's own text, safe to print.
[[nodiscard]] std::string refusal_text(int status, std::string_view body);

/// Threads: one at a time.
class Inquiry final : public ResponseHandler {
 public:
  using Then = std::function<void(const InquiryAnswer&)>;

  Inquiry(std::size_t server, RequestTransport& transport, const TimeSource& clock,
          std::chrono::milliseconds timeout) noexcept
      : server_(server), transport_(transport), clock_(clock), timeout_(timeout) {}
  Inquiry(const Inquiry&) = delete;
  Inquiry& operator=(const Inquiry&) = delete;
  ~Inquiry() override;

  /// Sends the request when all earlier ones are answered. `then` may ask again. The timeout and
  /// the longest answer are the same for all of them.
  void ask(std::string target, Then then, SendingOptions options = {});
  [[nodiscard]] bool is_idle() const noexcept { return waiting_.empty(); }
  /// Drops all requests without calling `then`.
  void clear() noexcept;

  void began(int status) override;
  [[nodiscard]] bool received(std::string_view bytes) override;
  void ended(const RequestEnding& ending) override;

 private:
  struct Question {
    std::string target;
    Then then;
    SendingOptions options;
  };
  void start_next();

  std::size_t server_;
  RequestTransport& transport_;
  const TimeSource& clock_;
  std::chrono::milliseconds timeout_;
  std::vector<Question> waiting_;  ///< the first is in progress
  RequestId request_ = 0;
  InquiryAnswer answer_;
};

}  // namespace wattle::client
