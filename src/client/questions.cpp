#include "client/questions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/text/text.hpp"

namespace wattle::client {
namespace {

/// Far above any answer of a daemon: a thousand GPUs are 200 KiB.
constexpr std::size_t kMostBytes = 8U << 20U;

constexpr long kOk = 200;
constexpr long kBadRequest = 400;
constexpr long kUnauthorized = 401;
constexpr long kForbidden = 403;
constexpr long kNotFound = 404;

struct Body {
  std::string bytes;
  bool too_long = false;
  std::size_t head_bytes = 0;
};

/// Counts the bytes outside the body, with trailers: libcurl keeps them all.
std::size_t count_head(const char* /*bytes*/, std::size_t /*one*/, std::size_t count,
                       void* to) noexcept {
  auto& body = *static_cast<Body*>(to);
  body.head_bytes += count;
  return body.head_bytes > kLongestHead ? 0 : count;
}

/// A write callback of libcurl: a result other than `count` ends the transfer.
std::size_t take(const char* bytes, std::size_t /*one*/, std::size_t count, void* to) noexcept {
  auto& body = *static_cast<Body*>(to);
  body.too_long = body.bytes.size() + count > kMostBytes;
  if (body.too_long) return 0;
  try {
    body.bytes.append(bytes, count);
  } catch (const std::exception&) {
    return 0;  // out of memory; libcurl is C: no exception may pass
  }
  return count;
}

[[noreturn]] void refuse(long status, const std::string& cannot, std::string_view body) {
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
    : server_(std::move(server)), timeout_(timeout) {
  if (timeout_.count() <= 0 || timeout_ > std::chrono::hours(1)) {
    throw InvalidArgument("the time that " + name() +
                          " has for an answer must be above 0 and at most an hour");
  }
  lines_ = lines_for(server_);
  easy_ = make_easy();
}

std::string Questions::name() const { return "the daemon at " + printable(server_.endpoint); }

std::string Questions::cannot(std::string_view operation) const {
  return "cannot " + std::string(operation) + ": " + name() + ": ";
}

std::string Questions::ask(std::string_view operation, std::string_view path,
                           const QueryText& query, bool is_post) {
  // Resets the options of the last request; keeps its connection.
  ::curl_easy_reset(easy_.get());
  Body body;
  FailureText failure{};
  set_up(easy_.get(), server_, std::string(path) + query.text(), lines_.get(), timeout_, timeout_);
  set_option(easy_.get(), CURLOPT_HEADERFUNCTION, &count_head);
  set_option(easy_.get(), CURLOPT_HEADERDATA, &body);
  set_option(easy_.get(), CURLOPT_WRITEFUNCTION, &take);
  set_option(easy_.get(), CURLOPT_WRITEDATA, &body);
  set_option(easy_.get(), CURLOPT_ERRORBUFFER, failure.data());
  set_option(easy_.get(), CURLOPT_MAXFILESIZE, static_cast<long>(kMostBytes));
  if (is_post) {
    set_option(easy_.get(), CURLOPT_POST, 1L);
    set_option(easy_.get(), CURLOPT_POSTFIELDSIZE, 0L);
    set_option(easy_.get(), CURLOPT_POSTFIELDS, "");
  }
  const CURLcode code = ::curl_easy_perform(easy_.get());
  set_option(easy_.get(), CURLOPT_ERRORBUFFER, static_cast<char*>(nullptr));
  if (body.too_long || code == CURLE_FILESIZE_EXCEEDED) {
    throw ConnectionError(cannot(operation) + "its answer is longer than " +
                          std::to_string(kMostBytes) + " bytes");
  }
  if (body.head_bytes > kLongestHead) throw ConnectionError(cannot(operation) + kHeadTooLong);
  if (code != CURLE_OK) {
    throw ConnectionError(cannot(operation) + failure_text(easy_.get(), code, failure, server_));
  }
  long status = 0;
  ::curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status != kOk) refuse(status, cannot(operation), body.bytes);
  return std::move(body.bytes);
}

}  // namespace wattle::client
