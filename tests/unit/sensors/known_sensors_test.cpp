#include "sensors/known_sensors.hpp"

#include <gtest/gtest.h>

namespace wattle {
namespace {

TEST(KnownSensors, DefaultPowersAreThoseOfTheDesign) {
  EXPECT_EQ(default_max_power(DomainKind::package), Watts(2000.0));
  EXPECT_EQ(default_max_power(DomainKind::dram), Watts(500.0));
  EXPECT_EQ(default_max_power(DomainKind::psys), Watts(10000.0));
}

TEST(KnownSensors, WhatLiesInsideAPackageCannotExceedIt) {
  EXPECT_LE(default_max_power(DomainKind::core), default_max_power(DomainKind::package));
  EXPECT_LE(default_max_power(DomainKind::uncore), default_max_power(DomainKind::package));
}

TEST(KnownSensors, UpdateIntervalIsOrdered) {
  EXPECT_LT(kRaplUpdate.spread, kRaplUpdate.mean);
  EXPECT_LT(kRaplUpdate.mean, kRaplUpdate.p99);
}

}  // namespace
}  // namespace wattle
