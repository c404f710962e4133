#include "http/peer.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

namespace wattle::daemon {
namespace {

sockaddr_storage address(const char* text) {
  sockaddr_storage any{};
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    std::memcpy(&any, &v4, sizeof v4);
  } else {
    EXPECT_EQ(::inet_pton(AF_INET6, text, &v6.sin6_addr), 1) << text;
    v6.sin6_family = AF_INET6;
    std::memcpy(&any, &v6, sizeof v6);
  }
  return any;
}

TEST(Peer, IsLimitedByItsAddress) {
  EXPECT_EQ(client_of(address("10.1.2.3")), "10.1.2.3");
  EXPECT_EQ(client_of(address("::ffff:10.1.2.3")), "10.1.2.3");
}

TEST(Peer, IsLimitedByTheNetworkThatItHasWithIpv6) {
  EXPECT_EQ(client_of(address("2001:db8:1:2:3:4:5:6")), "2001:db8:1:2::/64");
  EXPECT_EQ(client_of(address("2001:db8:1:2:ffff::1")), "2001:db8:1:2::/64");
  EXPECT_EQ(client_of(address("2001:db8:1:3::1")), "2001:db8:1:3::/64");
}

TEST(Peer, IsThisMachineByEachOfItsAddresses) {
  for (const char* own : {"127.0.0.1", "127.9.8.7", "::ffff:127.1.2.3", "::1"}) {
    EXPECT_EQ(client_of(address(own)), "127.0.0.1") << own;
  }
  EXPECT_EQ(client_of(address("128.0.0.1")), "128.0.0.1");
}

TEST(Peer, IsNamedByItsWholeAddress) {
  EXPECT_EQ(address_text(address("10.1.2.3")), "10.1.2.3");
  EXPECT_EQ(address_text(address("2001:db8:1:2:3:4:5:6")), "2001:db8:1:2:3:4:5:6");
  EXPECT_EQ(address_text({}), "unknown");
}

TEST(Peer, OfAConnectionIsWhereItComesFrom) {
  const Fd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage place = address("127.0.0.1");
  auto* const name = static_cast<sockaddr*>(static_cast<void*>(&place));
  socklen_t length = sizeof(sockaddr_in);
  ASSERT_EQ(::bind(server.get(), name, length), 0);
  ASSERT_EQ(::listen(server.get(), 1), 0);
  ASSERT_EQ(::getsockname(server.get(), name, &length), 0);  // the port, too
  const Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(client.get(), name, length), 0);
  const Fd accepted(::accept4(server.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const ListeningSocket listener{.fd = {}, .is_loopback = true, .name = {}};
  EXPECT_EQ(peer_of(listener, accepted.get()).name, "127.0.0.1");
  EXPECT_EQ(peer_of(listener, accepted.get()).client, "127.0.0.1");
  EXPECT_EQ(peer_of(listener, -1).name, "unknown");
}

}  // namespace
}  // namespace wattle::daemon
