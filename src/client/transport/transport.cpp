#include "client/transport/transport.hpp"

#include <utility>

#include "wire/message_json.hpp"

namespace wattle::client {
namespace {

constexpr std::size_t kLongestAnswer = std::size_t{1} << 20U;

}  // namespace

std::string InquiryAnswer::reason() const {
  return failure.empty() ? refusal_text(status, body) : failure;
}

std::string refusal_text(int status, std::string_view body) {
  const std::string said = wire::decode_error(body);
  return "answers " + std::to_string(status) + (said.empty() ? "" : ": " + said);
}

Inquiry::~Inquiry() { clear(); }

void Inquiry::ask(std::string target, Then then, SendingOptions options) {
  options.timeout = timeout_;
  options.most_bytes = kLongestAnswer;
  waiting_.push_back({.target = std::move(target), .then = std::move(then), .options = options});
  if (waiting_.size() == 1) start_next();
}

void Inquiry::clear() noexcept {
  if (!waiting_.empty()) transport_.cancel(request_);
  waiting_.clear();
}

void Inquiry::start_next() {
  answer_ = {.sent_at = clock_.now()};
  const Question& next = waiting_.front();
  request_ = transport_.start(server_, next.target, next.options, *this);
}

void Inquiry::began(int status) {
  answer_.status = status;
  // The time is in the packet of the head: the rest of the body does not delay it.
  answer_.received_at = clock_.now();
}

bool Inquiry::received(std::string_view bytes) {
  answer_.body += bytes;
  return true;
}

void Inquiry::ended(const RequestEnding& ending) {
  answer_.failure = ending.failure;
  if (answer_.status == 0) answer_.received_at = clock_.now();
  const InquiryAnswer answer = std::exchange(answer_, {});
  const Then then = std::move(waiting_.front().then);
  waiting_.erase(waiting_.begin());
  if (!waiting_.empty()) start_next();
  then(answer);
}

}  // namespace wattle::client
