#include "http/origin.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <string>

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

}  // namespace

std::optional<Response> refusal_of_foreign_page(const RequestHead& head, const Peer& peer) {
  if (peer.is_local_socket) return std::nullopt;
  if (peer.at_loopback && head.host && !is_this_machine(*head.host)) {
    return error_response(421, "This server does not have that name.");
  }
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
