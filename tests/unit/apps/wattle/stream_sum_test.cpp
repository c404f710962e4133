#include "stream/stream_sum.hpp"

#include <gtest/gtest.h>

namespace wattle::app {
namespace {

const ConnectionState kConnected{.status = ConnectionStatus::live};
const ConnectionState kOff{.status = ConnectionStatus::off};
const ConnectionState kRefused{.status = ConnectionStatus::connecting,
                               .reason = "Connection refused"};
const ConnectionState kDenied{.status = ConnectionStatus::denied, .reason = "answers 403"};

StreamedDevice with_energy(const std::string& domain, double uncertainty_j) {
  return {.domain = domain,
          .is_gpu = domain.starts_with("gpu"),
          .power_w = 50.0,
          .energy = MeasuredEnergy{.energy = Joules(100.0), .uncertainty = Joules(uncertainty_j)}};
}

StreamSum sum_of_one(const StreamedServer& server) { return sum_of({&server, 1}, Seconds(2.0)); }

TEST(StreamSum, HasTheUncertaintyOfIndependentParts) {
  const StreamSum both =
      sum_of_one({.endpoint = "a",
                  .gpu = kConnected,
                  .cpu = kConnected,
                  .devices = {with_energy("gpu_0", 3.0), with_energy("package_0", 4.0)}});
  EXPECT_EQ(both.energy.energy, Joules(200.0));
  EXPECT_DOUBLE_EQ(both.energy.uncertainty.si(), 5.0);
  EXPECT_DOUBLE_EQ(both.mean->value, 100.0);
  EXPECT_DOUBLE_EQ(both.mean->uncertainty, 2.5);
  EXPECT_FALSE(both.is_energy_lower_bound());
  EXPECT_EQ(missing_text(both, both.energies_missing), "");
}

TEST(StreamSum, AddsUpWhatComesBackWithItsSign) {
  std::vector<StreamedDevice> alike = {with_energy("gpu_0", 4.0), with_energy("gpu_1", 4.0)};
  for (StreamedDevice& device : alike) device.energy->common = Joules(4.0);
  const StreamSum both =
      sum_of_one({.endpoint = "a", .gpu = kConnected, .cpu = kOff, .devices = alike});
  EXPECT_DOUBLE_EQ(both.energy.uncertainty.si(), 8.0);
  EXPECT_DOUBLE_EQ(both.mean->uncertainty, 4.0);
}

TEST(StreamSum, LeavesOutWhatOverlapsTheOthers) {
  StreamedDevice platform = with_energy("psys", 4.0);
  platform.counts = false;
  const StreamSum both = sum_of_one({.endpoint = "a",
                                     .gpu = kConnected,
                                     .cpu = kConnected,
                                     .devices = {with_energy("package_0", 4.0), platform}});
  EXPECT_EQ(both.energy.energy, Joules(100.0));
  EXPECT_EQ(both.power_w, 50.0);
  EXPECT_FALSE(both.is_energy_lower_bound());
}

TEST(StreamSum, CountsWhatItLacks) {
  const StreamSum one =
      sum_of_one({.endpoint = "a",
                  .gpu = kConnected,
                  .cpu = kConnected,
                  .devices = {with_energy("gpu_0", 3.0), {.domain = "package_0"}}});
  EXPECT_TRUE(one.is_energy_lower_bound());
  EXPECT_TRUE(one.is_power_lower_bound());
  EXPECT_EQ(missing_text(one, one.energies_missing), "excludes 1 device");
}

TEST(StreamSum, LacksAServerThatCannotBeReached) {
  const StreamSum none = sum_of_one({.endpoint = "a", .gpu = kRefused, .cpu = kOff, .devices = {}});
  EXPECT_TRUE(none.is_power_lower_bound());
  EXPECT_EQ(missing_text(none, none.powers_missing), "excludes 1 server");
}

TEST(StreamSum, LacksTheGpusOfAServerWhoseCpusAloneAreKnown) {
  const StreamSum part = sum_of_one({.endpoint = "a",
                                     .gpu = kRefused,
                                     .cpu = kConnected,
                                     .devices = {with_energy("package_0", 3.0)}});
  EXPECT_TRUE(part.is_energy_lower_bound());
  EXPECT_EQ(missing_text(part, 0), "excludes part of 1 server");
}

TEST(StreamSum, LacksNothingWhereADaemonServesNoGpusToThisUser) {
  const StreamSum allowed = sum_of_one({.endpoint = "a",
                                        .gpu = kDenied,
                                        .cpu = kConnected,
                                        .devices = {with_energy("package_0", 3.0)}});
  EXPECT_FALSE(allowed.is_energy_lower_bound());
}

}  // namespace
}  // namespace wattle::app
