#include <sys/auxv.h>
#include <sys/un.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "client/connection_words.hpp"
#include "wattle/daemon_client.hpp"

namespace wattle {
namespace {

/// The port of an address without one.
constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

constexpr std::string_view kForms =
    "a server is named host, host:port, http://host:port, https://host:port, unix:/path or /path";

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw InvalidArgument("'" + printable(text) + "' names no server: " + std::string(why) + "; " +
                        std::string(kForms));
}

/// The characters of names and IPv4 addresses: none has another meaning in a URL.
bool is_host_name(std::string_view text) noexcept {
  constexpr std::size_t kLongestName = 253;  // RFC 1035 2.3.4, written with dots
  return !text.empty() && text.size() <= kLongestName && std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_';
  });
}

/// True for the characters of an IPv6 address with an optional zone ("%eth0"). The resolver does
/// the full check.
bool is_ipv6(std::string_view text) noexcept {
  const std::size_t percent = std::min(text.find('%'), text.size());
  const std::string_view address = text.substr(0, percent);
  const std::string_view zone = text.substr(percent);
  constexpr std::size_t kLongestAddress = 45;
  return address.find(':') != std::string_view::npos && address.size() <= kLongestAddress &&
         std::ranges::all_of(address,
                             [](char c) {
                               return is_digit(c) || (c >= 'a' && c <= 'f') ||
                                      (c >= 'A' && c <= 'F') || c == ':' || c == '.';
                             }) &&
         (zone.empty() || is_host_name(zone.substr(1)));
}

bool has_brackets(std::string_view host) noexcept {
  return host.size() >= 2 && host.front() == '[' && host.back() == ']';
}

/// `server` with `options`, after checking them.
Server with(Server server, ServerOptions options) {
  client::check_token(options.token, server.endpoint);
  for (const auto& list : {options.gpus, options.cpus}) {
    if (!list) continue;
    if (std::set(list->begin(), list->end()).size() == list->size()) continue;
    throw InvalidArgument("a device of " + printable(server.endpoint) + " is named twice");
  }
  server.token = std::move(options.token);
  server.gpu_indices = std::move(options.gpus);
  server.cpu_indices = std::move(options.cpus);
  server.uses_proxy = options.proxy;
  return server;
}

Server at_port(Server::Transport transport, std::string_view host, std::uint16_t port) {
  const std::string_view bare = has_brackets(host) ? host.substr(1, host.size() - 2) : host;
  const bool ipv6 = is_ipv6(bare);
  if (!ipv6 && (has_brackets(host) || !is_host_name(host))) {
    refuse(host, "invalid host name");
  }
  if (port == 0) refuse(host, "its port is 0");
  const std::string shown = ipv6 ? "[" + std::string(bare) + "]" : std::string(bare);
  return {.transport = transport, .endpoint = shown + ":" + std::to_string(port)};
}

/// "host", "host:port", "[::1]:port", "::1".
Server at_address(Server::Transport transport, std::string_view address, std::uint16_t port) {
  const std::size_t colon = address.rfind(':');
  const bool one_colon = colon != std::string_view::npos && address.find(':') == colon;
  const bool after_bracket =
      colon != std::string_view::npos && colon > 0 && address[colon - 1] == ']';
  if (!one_colon && !after_bracket) return at_port(transport, address, port);
  const auto given = parse_unsigned<std::uint16_t>(address.substr(colon + 1));
  if (!given) refuse(address, "its port is not a number from 1 to 65535");
  return at_port(transport, address.substr(0, colon), *given);
}

Server parse_with_port(std::string_view text, std::uint16_t port_of_bare_host) {
  std::string_view rest = text;
  if (take_prefix(rest, "unix:") || rest.starts_with('/')) return Server::unix_socket(rest);
  const bool is_https = take_prefix(rest, "https://");
  const bool is_url = is_https || take_prefix(rest, "http://");
  if (!is_url && rest.find("://") != std::string_view::npos) {
    refuse(text, "its scheme is neither http nor https");
  }
  if (is_url && rest.ends_with('/')) rest.remove_suffix(1);
  if (is_https) return at_address(Server::Transport::https, rest, kHttpsPort);
  return at_address(Server::Transport::http, rest, is_url ? kHttpPort : port_of_bare_host);
}

/// Empty if the variable is not set.
std::string_view environment(const char* variable) noexcept {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): documented: nobody may change the environment now
  const char* const value = std::getenv(variable);
  return value != nullptr ? value : "";
}

/// Absent: the environment names none.
std::optional<Server> configured() {
  if (::getauxval(AT_SECURE) != 0) return std::nullopt;
  const std::string_view path = environment("ZEUSD_SOCK_PATH");
  const std::string_view host_port = environment("ZEUSD_HOST_PORT");
  if (path.empty() && host_port.empty()) return std::nullopt;
  Server server = path.empty() ? parse_with_port(host_port, kHttpPort) : Server::unix_socket(path);
  server.token = environment("ZEUSD_TOKEN");
  return server;
}

}  // namespace

// Defined here so that each type has its vtable in one place: see error.cpp.
ConnectionError::~ConnectionError() = default;
AuthError::~AuthError() = default;

Server Server::tcp(std::string_view host, std::uint16_t port, ServerOptions options) {
  return with(at_port(Transport::http, host, port), std::move(options));
}

Server Server::tls(std::string_view host, std::uint16_t port, ServerOptions options) {
  return with(at_port(Transport::https, host, port), std::move(options));
}

Server Server::unix_socket(std::string_view path, ServerOptions options) {
  constexpr std::size_t kRoom = sizeof(sockaddr_un::sun_path) - 1;
  if (path.empty()) refuse(path, "the path of a socket is empty");
  if (path.size() > kRoom) {
    refuse(path, "the path of a socket has at most " + std::to_string(kRoom) + " bytes");
  }
  if (path.find('\0') != std::string_view::npos) refuse(path, "a path has no zero byte");
  return with({.transport = Transport::unix_socket, .endpoint = std::string(path)},
              std::move(options));
}

Server Server::parse(std::string_view text) { return parse_with_port(text, kDaemonPort); }

Server Server::from_env() {
  if (auto server = configured()) return *std::move(server);
  throw ConnectionError(
      "no daemon is named: set ZEUSD_SOCK_PATH to the path of its socket, or ZEUSD_HOST_PORT to "
      "its host:port");
}

Server Server::from_env_or(Server otherwise) {
  auto server = configured();
  return server ? *std::move(server) : std::move(otherwise);
}

}  // namespace wattle
