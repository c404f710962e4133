#include "http/origin.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"

namespace wattle::daemon {
namespace {

/// The host without its port; empty: an invalid host or port.
std::string name_of_host(const std::string& host) {
  const bool has_brackets = host.starts_with('[');
  const std::size_t end = std::min(has_brackets ? host.find(']') : host.find(':'), host.size());
  std::string_view rest = std::string_view(host).substr(end);
  if (has_brackets) {
    if (rest.empty()) return {};
    rest.remove_prefix(1);
  }
  const bool is_port =
      rest.empty() ||
      (rest.front() == ':' && rest.find_first_not_of("0123456789", 1) == std::string_view::npos);
  if (!is_port) return {};
  if (has_brackets) return host.substr(1, end - 1);
  return lower(std::string_view(host).substr(0, end));
}

bool is_this_machine(const std::string& host) {
  const std::string name = name_of_host(host);
  in6_addr address6{};
  if (host.starts_with('[')) {
    return ::inet_pton(AF_INET6, name.c_str(), &address6) == 1 && IN6_IS_ADDR_LOOPBACK(&address6);
  }
  if (name == "localhost") return true;
  in_addr address{};
  return ::inet_pton(AF_INET, name.c_str(), &address) == 1 &&
         (ntohl(address.s_addr) >> 24U) == IN_LOOPBACKNET;
}

/// Only these characters: such a name stands in the head of an answer, and in a page.
bool is_host_name(std::string_view name) noexcept {
  constexpr std::size_t kMostBytes = 253;
  return !name.empty() && name.size() <= kMostBytes && name.front() != '.' && name.front() != '-' &&
         std::ranges::all_of(
             name, [](char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-'; });
}

bool is_reading(const RequestHead& head) noexcept {
  return head.method == "GET" || head.method == "HEAD" || head.method == "OPTIONS";
}

}  // namespace

std::optional<std::string> parse_origin(std::string_view text) {
  constexpr std::uint16_t kDefaultPort = 4938;
  constexpr std::uint16_t kHttpPort = 80;
  constexpr std::uint16_t kHttpsPort = 443;
  const bool is_plain = take_prefix(text, "http://");
  const bool is_encrypted = !is_plain && take_prefix(text, "https://");
  const bool has_port = text.find(':') != std::string_view::npos;
  const std::string host = lower(take_until(text, ':'));
  const auto port = has_port ? parse_unsigned<std::uint16_t>(text) : kDefaultPort;
  if (!is_host_name(host) || !port || *port == 0) return std::nullopt;
  const bool is_http = is_plain || (!is_encrypted && is_this_machine(host));
  const char* const scheme = is_http ? "http" : "https";
  // Browsers leave out the port that the scheme implies.
  if (*port == (is_http ? kHttpPort : kHttpsPort)) return fmt::format("{}://{}", scheme, host);
  return fmt::format("{}://{}:{}", scheme, host, *port);
}

std::string reading_origin(const RequestHead& head, std::span<const std::string> readers) {
  if (!head.origin || std::ranges::count(readers, *head.origin) == 0) return {};
  return *head.origin;
}

Response preflight_answer() { return {.is_preflight = true}; }

std::optional<Response> refusal_of_foreign_page(const RequestHead& head, const Peer& peer,
                                                std::span<const std::string> readers) {
  if (peer.is_local_socket) return std::nullopt;
  if (peer.at_loopback && head.host && !is_this_machine(*head.host)) {
    return error_response(421, "This server does not have that name.");
  }
  if (is_reading(head) && !reading_origin(head, readers).empty()) return std::nullopt;
  // Set by the browser; a page cannot change it. Old browsers do not send it.
  const std::string site = head.fetch_site.value_or("none");
  if (site != "none" && site != "same-origin") {
    return error_response(403, "Requests from other sites are not answered.");
  }
  const std::string host = head.host.value_or("");
  if (head.origin && *head.origin != "http://" + host && *head.origin != "https://" + host) {
    return error_response(403, "Requests from other sites are not answered.");
  }
  return std::nullopt;
}

}  // namespace wattle::daemon
