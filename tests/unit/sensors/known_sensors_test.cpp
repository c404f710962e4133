#include "sensors/known_sensors.hpp"

#include <gtest/gtest.h>

namespace wattle {
namespace {

TEST(KnownSensors, UpdateIntervalIsOrdered) {
  EXPECT_LT(kRaplUpdate.spread, kRaplUpdate.mean);
  EXPECT_LT(kRaplUpdate.mean, kRaplUpdate.p99);
}

}  // namespace
}  // namespace wattle
