// The reasons of a daemon for unknown powers, in virtual time.
#include <gtest/gtest.h>

#include "client/followed.hpp"

namespace wattle::client_test {
namespace {

wire::UnknownPower stuck(bool is_dram = false) {
  return {.type = DeviceType::cpu, .id = 0, .is_dram = is_dram, .reason = "does not move"};
}

TEST(AFollowedServer, HasNoPowerOfWhatItSaysIsNotKnownButTheReason) {
  Followed followed;
  followed.start();
  ASSERT_TRUE(followed.readings().cpu_power.contains(0));
  followed.send("/cpu/", wire::encode(stuck()));
  EXPECT_FALSE(followed.readings().cpu_power.contains(0));
  EXPECT_EQ(followed.readings().cpu_reason.at(0), "does not move");
  EXPECT_EQ(followed.cpu(), ConnectionStatus::live);
  const wire::CpuPower known{60'000, std::nullopt};
  followed.send("/cpu/", wire::event(wire::encode_event(followed.daemon_ms(), 0, known)));
  EXPECT_EQ(followed.readings().cpu_power.at(0).cpu, Watts(60.0));
  EXPECT_TRUE(followed.readings().cpu_reason.empty());
}

TEST(AFollowedServer, SaysWhyTheMemoryOfACpuIsNotKnown) {
  Followed followed;
  followed.start();
  const wire::CpuPower without{60'000, std::nullopt};
  followed.send("/cpu/", wire::event(wire::encode_event(followed.daemon_ms(), 0, without)) +
                             wire::encode(stuck(true)));
  EXPECT_EQ(followed.readings().cpu_power.at(0).cpu, Watts(60.0));
  EXPECT_EQ(followed.readings().dram_reason.at(0), "does not move");
  const wire::CpuPower whole{60'000, 9'000};
  followed.send("/cpu/", wire::event(wire::encode_event(followed.daemon_ms(), 0, whole)));
  EXPECT_TRUE(followed.readings().dram_reason.empty());
}

TEST(AFollowedServer, SaysNothingOfDevicesThatItDoesNotServe) {
  Followed followed;
  followed.start();
  wire::UnknownPower other = stuck();
  other.id = 7;
  followed.send("/cpu/", wire::encode(other));
  followed.send("/gpu/", wire::encode(stuck()));  // no stream of CPUs
  EXPECT_TRUE(followed.readings().cpu_reason.empty());
  EXPECT_TRUE(followed.readings().cpu_power.contains(0));
}

TEST(AFollowedServer, GivesNoReasonOfBeforeItWasLost) {
  Followed followed;
  followed.start();
  followed.send("/cpu/", wire::encode(stuck()));
  followed.hang_up("/cpu/");
  followed.advance(2s);
  EXPECT_EQ(followed.cpu(), ConnectionStatus::live);
  EXPECT_TRUE(followed.readings().cpu_reason.empty());
}

}  // namespace
}  // namespace wattle::client_test
