#include "client/questions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "base/text/text.hpp"

namespace wattle::client {
namespace {

constexpr int kOk = 200;
constexpr int kBadRequest = 400;
constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;

std::string name_of(const Server& server) { return "the daemon at " + printable(server.endpoint); }

Server checked(Server server, std::chrono::milliseconds timeout) {
  if (timeout.count() <= 0 || timeout > std::chrono::hours(1)) {
    throw InvalidArgument("the time that " + name_of(server) +
                          " has for an answer must be above 0 and at most an hour");
  }
  return server;
}

[[noreturn]] void refuse(int status, const std::string& cannot, std::string_view body) {
  const std::string said = wire::decode_error(body);
  const std::string message =
      cannot + (said.empty() ? "it answers with status " + std::to_string(status)
                             : said + " (status " + std::to_string(status) + ")");
  switch (status) {
    case kUnauthorized:
      throw AuthError(message);
    case kForbidden:
    case kNotFound:
      throw CapabilityError(message);
    case kBadRequest:
      throw BadRequest(message);
    default:
      throw Error(message);
  }
}

}  // namespace

QueryText& QueryText::list(std::string_view name, const std::vector<std::uint32_t>& ids) {
  if (ids.empty()) return *this;
  return add(name, fmt::format("{}", fmt::join(ids, "%2C")));
}

QueryText& QueryText::add(std::string_view name, std::string_view value) {
  text_ += text_.empty() ? '?' : '&';
  text_.append(name).append("=").append(value);
  return *this;
}

Questions::Questions(Server server, std::chrono::milliseconds timeout)
    : server_{checked(std::move(server), timeout)},
      transport_(server_, timeout),
      inquiry_(0, transport_, machine_clock(), timeout) {}

std::string Questions::name() const { return name_of(server()); }

std::string Questions::cannot(std::string_view operation) const {
  return "cannot " + std::string(operation) + ": " + name() + ": ";
}

std::string Questions::ask(std::string_view operation, std::string_view path,
                           const QueryText& query, bool is_post) {
  std::optional<InquiryAnswer> answer;
  inquiry_.ask(std::string(path) + query.text(), [&](const InquiryAnswer& came) { answer = came; },
               {.is_post = is_post});
  while (!answer) {
    transport_.wait(TimePoint::max());
    transport_.run([] {});
  }
  if (!answer->failure.empty()) throw ConnectionError(cannot(operation) + answer->failure);
  if (answer->status != kOk) refuse(answer->status, cannot(operation), answer->body);
  return std::move(answer->body);
}

}  // namespace wattle::client
