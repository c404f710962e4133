// Sends single requests to one daemon, one after the other.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "client/transport/transport.hpp"

namespace wattle::client {

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
