// Whose a GPU's energy is, by what is known of its users.
#include "report/share.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace wattle {
namespace {

using testing::HasSubstr;

constexpr Joules kMeasured(1000.0);

GpuUsage usage_of(std::optional<bool> by_command, std::optional<bool> by_others) {
  return {
      .domain = Domain::nvidia_gpu(0), .used_by_command = by_command, .used_by_others = by_others};
}

/// A GPU on which command and others worked for so long.
GpuUsage shared_by(const Domain& gpu, double command_s, double others_s) {
  GpuUsage usage = usage_of(true, true);
  usage.domain = gpu;
  usage.command_engine_time = Seconds(command_s);
  usage.others_engine_time = Seconds(others_s);
  return usage;
}

GpuShare share_of(const GpuUsage& usage, const GpuPower& power = {}) {
  return gpu_share(usage, {.energy = kMeasured}, power);
}

TEST(GpuShares, AreAllOrNothingWhereOneAloneUsedTheGpu) {
  const GpuShare own = share_of(usage_of(true, false));
  EXPECT_TRUE(own.is_known);
  EXPECT_EQ(own.command.low, kMeasured);
  EXPECT_EQ(own.command.high, kMeasured);
  const GpuShare none = share_of(usage_of(false, true));
  EXPECT_TRUE(none.is_known);
  EXPECT_EQ(none.command.high, Joules(0.0));
}

/// With the reason that names the cause.
TEST(GpuShares, AreFromNothingToAllWhereUsersAreNotDistinguished) {
  GpuUsage served = usage_of({}, {});
  served.used_by_command_unknown = "an MPS server uses it";
  GpuUsage unlisted = usage_of(true, {});
  unlisted.used_by_others_unknown = "listed too rarely";
  struct Case {
    GpuUsage usage;
    const char* reason;
  };
  for (const Case& unknown : {Case{served, "an MPS server"}, Case{unlisted, "too rarely"},
                              Case{usage_of(true, true), "does not report for how long"}}) {
    const GpuShare share = share_of(unknown.usage);
    EXPECT_FALSE(share.is_known);
    EXPECT_EQ(share.command.low, Joules(0.0));
    EXPECT_EQ(share.command.high, kMeasured);
    EXPECT_THAT(share.basis, HasSubstr(unknown.reason));
  }
}

/// 100 W of 10 s, of which three quarters of the engines' time were the command's.
TEST(GpuShares, FollowTheTimeThatTheEnginesWorkedForEach) {
  const GpuUsage usage = shared_by(Domain::amd_gpu(0), 6.0, 2.0);
  const GpuShare share = share_of(usage, {.wall = Seconds(10.0), .lowest = Watts(40.0)});
  EXPECT_TRUE(share.is_known);
  // 400 J may be idle power, of which half counts in the middle.
  EXPECT_NEAR(share.command.typical.si(), 0.75 * (1000.0 - 200.0), 1e-9);
  EXPECT_GT(share.command.low, Joules(0.0));
  EXPECT_LT(share.command.low, Joules(0.75 * 600.0));
  EXPECT_GT(share.command.high, Joules(750.0));
  EXPECT_LT(share.command.high, kMeasured);
  EXPECT_THAT(share.basis, HasSubstr("6.000 s for the command"));
  const GpuShare steady = share_of(usage, {.wall = Seconds(10.0)});
  EXPECT_EQ(steady.command.low, Joules(0.0)) << "all of it may be idle power";
}

/// On an H100 a process that worked half of the time got none of it, for as long as it ran in step
/// with the driver's moments.
TEST(GpuShares, AreFromNothingToAllWhereTheDriverCountsEveryMomentForOneProcess) {
  const GpuShare share = share_of(shared_by(Domain::nvidia_gpu(0), 3.0, 1.0),
                                  {.wall = Seconds(10.0), .lowest = Watts(40.0)});
  EXPECT_NEAR(share.command.typical.si(), 0.75 * (1000.0 - 200.0), 1e-9);
  EXPECT_EQ(share.command.low, Joules(0.0));
  EXPECT_EQ(share.command.high, kMeasured);
  EXPECT_THAT(share.basis, HasSubstr("every moment for one process alone"));
}

}  // namespace
}  // namespace wattle
