#include "response.hpp"

#include <fmt/format.h>

#include "wire/encode.hpp"

namespace wattle::daemon {
namespace {

std::string_view reason_of(unsigned status) noexcept {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 421:
      return "Misdirected Request";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Unknown";
  }
}

}  // namespace

std::string render(const Response& response, bool keeps_alive) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\nContent-Length: {}\r\n", response.status,
                                 reason_of(response.status), response.body.size());
  if (!response.body.empty()) {
    text += fmt::format("Content-Type: {}\r\n", response.content_type);
  }
  if (!response.challenge.empty()) {
    text += fmt::format("WWW-Authenticate: {}\r\n", response.challenge);
  }
  text += "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";
  text += keeps_alive ? "\r\n" : "Connection: close\r\n\r\n";
  return text + response.body;
}

std::string_view stream_head() noexcept {
  // Proxies must neither keep events back nor wait for an end.
  return "HTTP/1.1 200 OK\r\n"
         "Content-Type: text/event-stream\r\n"
         "Cache-Control: no-cache\r\n"
         "X-Accel-Buffering: no\r\n"
         "X-Content-Type-Options: nosniff\r\n"
         "Transfer-Encoding: chunked\r\n\r\n";
}

Response error_response(unsigned status, std::string_view message) {
  return {.status = status, .body = wire::encode_error(message)};
}

Response text_response(unsigned status, std::string text) {
  return {.status = status, .body = std::move(text), .content_type = "text/plain; charset=utf-8"};
}

Response response_of(const QueryFault& fault) {
  return fault.is_json ? error_response(400, fault.message) : text_response(400, fault.message);
}

}  // namespace wattle::daemon
