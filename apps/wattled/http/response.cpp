#include "http/response.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/text/printable_text.hpp"
#include "wire/message_json.hpp"

namespace wattle::daemon {
namespace {

/// For the statuses that this server uses.
constexpr std::array<std::pair<unsigned, std::string_view>, 13> kReasons = {
    {{200, "OK"},
     {400, "Bad Request"},
     {401, "Unauthorized"},
     {403, "Forbidden"},
     {404, "Not Found"},
     {408, "Request Timeout"},
     {413, "Content Too Large"},
     {421, "Misdirected Request"},
     {429, "Too Many Requests"},
     {431, "Request Header Fields Too Large"},
     {500, "Internal Server Error"},
     {503, "Service Unavailable"},
     {505, "HTTP Version Not Supported"}}};

std::string_view reason_of(unsigned status) noexcept {
  for (const auto& [known, reason] : kReasons) {
    if (known == status) return reason;
  }
  return "Unknown";
}

/// The headers that let the page of another machine read the answer.
std::string fields_for(std::string_view reader) {
  if (reader.empty()) return {};
  return fmt::format("Access-Control-Allow-Origin: {}\r\nVary: Origin\r\n", reader);
}

}  // namespace

std::string render(const Response& response, bool keeps_alive, std::string_view reader) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\nContent-Length: {}\r\n", response.status,
                                 reason_of(response.status), response.body.size());
  if (!response.body.empty()) {
    text += fmt::format("Content-Type: {}\r\n", response.content_type);
  }
  if (!response.challenge.empty()) {
    text += fmt::format("WWW-Authenticate: {}\r\n", response.challenge);
  }
  if (!response.policy.empty()) {
    text += fmt::format("Content-Security-Policy: {}\r\nReferrer-Policy: no-referrer\r\n",
                        response.policy);
  }
  text += fields_for(reader);
  if (response.is_preflight) {
    text +=
        "Access-Control-Allow-Methods: GET\r\nAccess-Control-Allow-Headers: Authorization\r\n"
        "Access-Control-Max-Age: 600\r\n";
  }
  // A refusal for want of room, or of an answer in time: it may be asked again soon.
  if (response.status == 429 || response.status == 503) text += "Retry-After: 1\r\n";
  text += "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";
  text += keeps_alive ? "\r\n" : "Connection: close\r\n\r\n";
  return text + response.body;
}

std::string stream_head(std::string_view reader) {
  // Proxies must not delay events.
  return "HTTP/1.1 200 OK\r\n"
         "Content-Type: text/event-stream\r\n"
         "Cache-Control: no-cache\r\n"
         "X-Accel-Buffering: no\r\n"
         "X-Content-Type-Options: nosniff\r\n" +
         fields_for(reader) + "Transfer-Encoding: chunked\r\n\r\n";
}

Response error_response(unsigned status, std::string_view message) {
  return {.status = status, .body = wire::encode_error(message)};
}

Response response_of(const QueryFault& fault) {
  if (fault.form == QueryFault::Form::json) return error_response(400, fault.what());
  return {.status = 400,
          .body = safe_output(fault.what(), Colors::none),
          .content_type = "text/plain; charset=utf-8"};
}

}  // namespace wattle::daemon
