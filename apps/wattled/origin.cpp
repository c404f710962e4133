#include "origin.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace wattle::daemon {
namespace {

/// Without the port.
std::string name_of_host(const std::string& host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return host.substr(1, end == std::string::npos ? end : end - 1);
  }
  std::string name = host.substr(0, host.find(':'));
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return name;
}

bool is_this_machine(const std::string& host) {
  const std::string name = name_of_host(host);
  if (name == "localhost" || name == "::1") return true;
  in_addr address{};
  return ::inet_pton(AF_INET, name.c_str(), &address) == 1 &&
         (ntohl(address.s_addr) >> 24U) == IN_LOOPBACKNET;
}

}  // namespace

std::optional<Response> foreign_page(const RequestHead& head, const Peer& peer) {
  if (peer.is_local_socket) return std::nullopt;
  if (peer.at_loopback && head.host && !is_this_machine(*head.host)) {
    return error_response(421, "This server does not go by that name.");
  }
  const std::string host = head.host.value_or("");
  if (head.origin && *head.origin != "http://" + host && *head.origin != "https://" + host) {
    return error_response(403, "Requests from other sites are not answered.");
  }
  return std::nullopt;
}

}  // namespace wattle::daemon
