#include "http/places.hpp"

#include <gtest/gtest.h>

#include <string>

namespace wattle::daemon {
namespace {

TEST(PlaceLimits, KeepAQuarterForUnixSockets) {
  const PlaceLimits limits = place_limits(4096);
  EXPECT_EQ(limits.all, 4096U);
  EXPECT_EQ(limits.tcp, 3072U);
  EXPECT_EQ(limits.per_address, 1024U);
  EXPECT_EQ(limits.per_user, 2048U);
  EXPECT_EQ(limits.guests, 32U);
  EXPECT_EQ(place_limits(4096, 7).per_address, 7U);
}

TEST(PlaceLimits, LeaveEverybodyOneOfFew) {
  for (std::size_t all = 1; all < 10; ++all) {
    const PlaceLimits limits = place_limits(all);
    EXPECT_GE(limits.tcp, 1U);
    EXPECT_GE(limits.per_address, 1U);
    EXPECT_GE(limits.per_user, 1U);
    EXPECT_GE(limits.guests, 1U);
    EXPECT_GE(limits.half_records, 1U);
  }
}

TEST(ConnectionsWithin, LeaveDescriptorsForTheRest) {
  EXPECT_EQ(connections_within(1024, 4096), 1024U - kSpareDescriptors);
  EXPECT_EQ(connections_within(300, 4096), 150U);
}

TEST(ConnectionsWithin, AreNoMoreThanAreWanted) {
  EXPECT_EQ(connections_within(300, 100), 100U);
  EXPECT_EQ(connections_within(1 << 20, 4096), 4096U);
  for (std::size_t wanted = 1; wanted < 1000; ++wanted) {
    EXPECT_EQ(connections_within(wanted + kSpareDescriptors, wanted), wanted);
  }
}

TEST(Places, OfOneAddressAreLimited) {
  Places places({.all = 10, .tcp = 8, .per_address = 2, .per_user = 3});
  places.take("10.0.0.1", false);
  EXPECT_EQ(places.shortage_for("10.0.0.1", false), Shortage::none);
  places.take("10.0.0.1", false);
  EXPECT_EQ(places.shortage_for("10.0.0.1", false), Shortage::per_client);
  EXPECT_EQ(places.shortage_for("10.0.0.2", false), Shortage::none);
  places.give_back("10.0.0.1", false);
  EXPECT_EQ(places.shortage_for("10.0.0.1", false), Shortage::none);
}

TEST(Places, OfTcpDoNotTakeThoseOfUnixSockets) {
  Places places({.all = 10, .tcp = 8, .per_address = 2, .per_user = 10});
  for (int i = 0; i < 8; ++i) {
    const std::string address = "10.0.0." + std::to_string(i);
    EXPECT_EQ(places.shortage_for(address, false), Shortage::none);
    places.take(address, false);
  }
  EXPECT_EQ(places.shortage_for("10.0.0.9", false), Shortage::tcp);
  for (int i = 0; i < 2; ++i) {
    const std::string user = "uid " + std::to_string(i);
    EXPECT_EQ(places.shortage_for(user, true), Shortage::none);
    places.take(user, true);
  }
  EXPECT_EQ(places.shortage_for("uid 2", true), Shortage::all);
  EXPECT_EQ(places.taken(), 10U);
}

TEST(Places, OfUsersAreNeverSoManyThatAnotherUserGetsNone) {
  Places places(place_limits(4096));
  for (int i = 0; i < 3072; ++i) places.take("10.0." + std::to_string(i), false);
  for (int user = 0; user < 9; ++user) {
    const std::string name = "uid " + std::to_string(user);
    while (places.shortage_for(name, true) == Shortage::none) places.take(name, true);
    EXPECT_EQ(places.shortage_for(name, true), Shortage::per_client);
    EXPECT_EQ(places.shortage_for("uid 1000", true), Shortage::none) << user;
  }
}

}  // namespace
}  // namespace wattle::daemon
