#include <gtest/gtest.h>

#include <cmath>

#include "stream/stream_follow.hpp"

namespace wattle::app {
namespace {

TEST(AddedEnergies, AreTheSumOfWhatIsKnownAndOfWhatIsNot) {
  Energies sum;
  sum["node"].gpus[0] = {.energy = Joules(100.0), .uncertainty = Joules(1.0)};
  Energies more;
  more["node"].gpus[0] = {.energy = Joules(20.0),
                          .uncertainty = Joules(0.5),
                          .unknown = Seconds(3.0),
                          .flags = Flags::of(Flag::gap)};
  add(more, sum);
  const MeasuredEnergy expected{.energy = Joules(120.0),
                                .uncertainty = Joules(std::hypot(1.0, 0.5)),
                                .unknown = Seconds(3.0),
                                .flags = Flags::of(Flag::gap)};
  EXPECT_EQ(sum["node"].gpus[0], expected);
}

TEST(AddedEnergies, KeepTheSignOfWhatASensorIsLateBy) {
  Energies sum;
  sum["node"].gpus[0] = {
      .energy = Joules(100.0), .uncertainty = Joules(5.0), .common = Joules(-3.0)};
  Energies later;
  later["node"].gpus[0] = {
      .energy = Joules(20.0), .uncertainty = Joules(5.0), .common = Joules(3.0)};
  add(later, sum);
  EXPECT_EQ(sum["node"].gpus[0].common, Joules(0.0));
  EXPECT_DOUBLE_EQ(sum["node"].gpus[0].uncertainty.si(), std::hypot(4.0, 4.0));
}

TEST(AddedEnergies, StayUnknownWhereNeitherPartIsKnown) {
  Energies sum;
  sum["node"].cpus[0] = {.unknown = Seconds(1.0)};
  add(sum, sum);
  EXPECT_EQ(sum["node"].cpus[0].energy, std::nullopt);
  EXPECT_EQ(sum["node"].cpus[0].unknown, Seconds(2.0));
}

TEST(AddedEnergies, HaveDevicesThatCameLater) {
  Energies sum;
  Energies more;
  more["new"].drams[1] = {.energy = Joules(1.0)};
  add(more, sum);
  EXPECT_EQ(sum["new"].drams[1].energy, Joules(1.0));
}

}  // namespace
}  // namespace wattle::app
