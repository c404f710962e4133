#include "http/peer.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "base/text/unknown.hpp"

namespace wattle::daemon {
namespace {

std::string text_of(int family, const void* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const char* const done = ::inet_ntop(family, address, text.data(), text.size());
  return done != nullptr ? done : std::string(kUnknown);
}

/// Every local user has all loopback addresses.
constexpr const char* kThisMachine = "127.0.0.1";

std::string client_of(const in_addr& address) {
  constexpr std::uint32_t kLoopbackNetwork = 127;
  return ntohl(address.s_addr) >> 24U == kLoopbackNetwork ? kThisMachine
                                                          : text_of(AF_INET, &address);
}

template <class Address>
Address as(const sockaddr_storage& address) {
  Address copy{};
  std::memcpy(&copy, &address, sizeof copy);
  return copy;
}

}  // namespace

std::string address_text(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    const auto v4 = as<sockaddr_in>(address);
    return text_of(AF_INET, &v4.sin_addr);
  }
  if (address.ss_family != AF_INET6) return std::string(kUnknown);
  const auto v6 = as<sockaddr_in6>(address);
  return text_of(AF_INET6, &v6.sin6_addr);
}

std::string client_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) return client_of(as<sockaddr_in>(address).sin_addr);
  if (address.ss_family != AF_INET6) return std::string(kUnknown);
  in6_addr network = as<sockaddr_in6>(address).sin6_addr;
  if (IN6_IS_ADDR_LOOPBACK(&network)) return kThisMachine;
  if (IN6_IS_ADDR_V4MAPPED(&network)) {
    in_addr v4{};
    std::memcpy(&v4, &network.s6_addr[12], sizeof v4);
    return client_of(v4);
  }
  constexpr std::ptrdiff_t kNetworkBytes = 8;
  std::fill(std::begin(network.s6_addr) + kNetworkBytes, std::end(network.s6_addr),
            std::uint8_t{0});
  return fmt::format("{}/64", text_of(AF_INET6, &network));
}

Peer peer_of(const ListeningSocket& listener, int fd) {
  Peer peer{.is_local_socket = listener.is_local_socket,
            .at_loopback = listener.is_loopback,
            .name = std::string(kUnknown)};
  if (listener.is_local_socket) {
    ucred credentials{};
    socklen_t length = sizeof credentials;
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0) {
      peer.name = peer.client = fmt::format("uid {}", credentials.uid);
    }
    return peer;
  }
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getpeername(fd, static_cast<sockaddr*>(static_cast<void*>(&address)), &length) == 0) {
    peer.name = address_text(address);
    peer.client = client_of(address);
  }
  return peer;
}

}  // namespace wattle::daemon
