#include "http/request_head.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <iterator>

namespace wattle::daemon {
namespace {

namespace http = boost::beast::http;

std::string text_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

/// Stores the field's value, if there is one. False: there are several.
template <class Name>
bool take_single(const http::fields& fields, Name name, std::optional<std::string>& value) {
  const auto [begin, end] = fields.equal_range(name);
  if (begin == end) return true;
  value = text_of(begin->value());
  return std::next(begin) == end;
}

bool has_body(const http::fields& fields) {
  if (fields.count(http::field::transfer_encoding) > 0) return true;
  const auto length = fields.find(http::field::content_length);
  return length != fields.end() && length->value() != "0";
}

}  // namespace

std::optional<std::size_t> head_length(std::string_view bytes) noexcept {
  // The parser refuses lines that end without a carriage return.
  const std::size_t end = bytes.find("\r\n\r\n");
  const std::size_t bare = bytes.find("\n\n");
  if (end == std::string_view::npos && bare == std::string_view::npos) return std::nullopt;
  return end < bare ? end + 4 : bare + 2;
}

std::variant<RequestHead, HeadFault> parse_head(std::string_view head) {
  if (head.size() > kMostHeadBytes) return HeadFault::too_large;
  if (!head.ends_with("\r\n\r\n")) return HeadFault::malformed;
  http::request_parser<http::empty_body> parser;
  parser.header_limit(kMostHeadBytes);
  parser.eager(false);
  boost::system::error_code error;
  const std::size_t taken = parser.put(boost::asio::buffer(head.data(), head.size()), error);
  if (error == http::error::bad_version) return HeadFault::unknown_version;
  if (error == http::error::header_limit) return HeadFault::too_large;
  if (error || !parser.is_header_done() || taken != head.size()) return HeadFault::malformed;

  const auto& message = parser.get();
  if (std::distance(message.begin(), message.end()) > static_cast<std::ptrdiff_t>(kMostFields)) {
    return HeadFault::too_large;
  }
  RequestHead request{.method = text_of(message.method_string()),
                      .target = text_of(message.target()),
                      .is_http_1_0 = message.version() == 10,
                      .keeps_alive = message.keep_alive(),
                      .has_body = has_body(message)};
  const bool is_clear = take_single(message, http::field::host, request.host) &&
                        take_single(message, http::field::origin, request.origin) &&
                        take_single(message, "Sec-Fetch-Site", request.fetch_site) &&
                        take_single(message, http::field::authorization, request.authorization) &&
                        message.count(http::field::content_length) <= 1;
  if (!is_clear || (!request.is_http_1_0 && !request.host)) return HeadFault::malformed;
  const auto accept = message.find(http::field::accept);
  if (accept != message.end()) request.accept = text_of(accept->value());
  return request;
}

}  // namespace wattle::daemon
