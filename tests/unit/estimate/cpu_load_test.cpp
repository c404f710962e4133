#include "estimate/cpu_load.hpp"

#include <gtest/gtest.h>

#include <string>

#include "fakes/temp_folder.hpp"

namespace wattle {
namespace {

using std::chrono::seconds;

CpuMoment moment(seconds at, CpuTimes times, std::optional<Seconds> group = {}) {
  times.processors = 4;
  return {.at = TimePoint(at), .times = times, .group_usage = group};
}

TEST(CpuLoad, IsTheBusyPartOfAllThreads) {
  const auto load =
      load_between(moment(seconds(0), {}), moment(seconds(10), {.busy = 1000, .total = 4000}), {});
  ASSERT_TRUE(load);
  EXPECT_EQ(load->threads, 4.0);
  EXPECT_DOUBLE_EQ(load->available.count(), 40.0);
  EXPECT_DOUBLE_EQ(load->busy.count(), 10.0);
  EXPECT_DOUBLE_EQ(load->mean(), 0.25);
}

TEST(CpuLoad, IsThatOfTheTimeThatWasNotStolen) {
  const auto load = load_between(
      moment(seconds(0), {}), moment(seconds(10), {.steal = 3600, .busy = 400, .total = 4000}), {});
  ASSERT_TRUE(load);
  EXPECT_DOUBLE_EQ(load->stolen_part, 0.9);
  EXPECT_NEAR(load->available.count(), 4.0, 1e-9);
  EXPECT_NEAR(load->mean(), 1.0, 1e-9);
}

TEST(CpuLoad, IsThatOfTheControlGroupWhereAQuotaLimitsIt) {
  const auto load =
      load_between(moment(seconds(0), {}, Seconds(5.0)),
                   moment(seconds(10), {.busy = 4000, .total = 4000}, Seconds(15.0)), 2.0);
  ASSERT_TRUE(load);
  EXPECT_EQ(load->threads, 2.0);
  EXPECT_EQ(load->quota, 2.0);
  EXPECT_DOUBLE_EQ(load->available.count(), 20.0);
  EXPECT_DOUBLE_EQ(load->mean(), 0.5);
}

TEST(CpuLoad, IgnoresAQuotaOfMoreThanThereIs) {
  const auto load =
      load_between(moment(seconds(0), {}, Seconds(0)),
                   moment(seconds(10), {.busy = 2000, .total = 4000}, Seconds(1.0)), 8.0);
  ASSERT_TRUE(load);
  EXPECT_EQ(load->threads, 4.0);
  EXPECT_FALSE(load->quota);
}

TEST(CpuLoad, IsNotKnownWhereNothingAdvanced) {
  EXPECT_FALSE(load_between(moment(seconds(0), {}), moment(seconds(1), {}), {}));
  EXPECT_FALSE(
      load_between(moment(seconds(0), {.total = 9}), moment(seconds(1), {.total = 5}), {}));
  EXPECT_FALSE(load_between(moment(seconds(1), {}), moment(seconds(1), {.total = 5}), {}));
}

TEST(CgroupPaths, AreThoseOfBothVersions) {
  const CgroupPaths paths = parse_cgroup_paths(
      "12:cpuset:/x\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/y\n0::/user.slice/a.scope\n");
  EXPECT_EQ(paths.v2, "/user.slice/a.scope");
  EXPECT_EQ(paths.v1_cpu, "/docker/abc");
  EXPECT_EQ(paths.v1_cpuacct, "/docker/abc");
}

TEST(CgroupPaths, DoNotLeaveTheirTree) {
  EXPECT_EQ(parse_cgroup_paths("0::/../../etc\n").v2, "/");
  EXPECT_EQ(parse_cgroup_paths("0::relative\n").v2, "/");
}

TEST(CgroupPaths, AreEmptyWhereThereIsNoGroup) {
  for (const char* text : {"", "\n", "0", "0:", "garbage\n"}) {
    EXPECT_EQ(parse_cgroup_paths(text).v2, "") << text;
  }
}

TEST(CpuMax, IsAQuotaOverAPeriod) {
  EXPECT_EQ(parse_cpu_max("150000 100000\n"), 1.5);
  EXPECT_FALSE(parse_cpu_max("max 100000\n"));
  for (const char* text : {"", "1", "1 0", "0 100000", "-1 100000", "a b"}) {
    EXPECT_FALSE(parse_cpu_max(text)) << text;
  }
  EXPECT_EQ(parse_cfs_quota("200000\n", "100000\n"), 2.0);
  EXPECT_FALSE(parse_cfs_quota("-1\n", "100000\n"));
}

class CpuQuotaTest : public ::testing::Test {
 protected:
  void write(const char* path, std::string_view text) const { folder_.write(path, text); }
  [[nodiscard]] std::optional<CpuQuota> quota() const {
    return read_cpu_quota({.sysfs = folder_.path() / "sys", .procfs = folder_.path() / "proc"});
  }
  fakes::TempFolder folder_;
};

TEST_F(CpuQuotaTest, IsTheTightestOfTheGroupAndThoseAboveIt) {
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("sys/fs/cgroup/outer/inner/cpu.max", "400000 100000\n");
  write("sys/fs/cgroup/outer/inner/cpu.stat", "usage_usec 1000000\n");
  write("sys/fs/cgroup/outer/cpu.max", "200000 100000\n");
  write("sys/fs/cgroup/outer/cpu.stat", "usage_usec 3000000\nuser_usec 1\n");
  const auto found = quota();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cpus, 2.0);
  EXPECT_EQ(found->usage(), Seconds(3.0));
}

TEST_F(CpuQuotaTest, OfAContainerStandsAtItsRoot) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  write("sys/fs/cgroup/cpu.stat", "usage_usec 5\n");
  ASSERT_TRUE(quota());
  EXPECT_EQ(quota()->cpus, 0.5);
}

TEST_F(CpuQuotaTest, OfVersion1IsReadFromItsController) {
  write("proc/self/cgroup", "4:cpu,cpuacct:/docker/abc\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpuacct.usage", "2000000000\n");
  const auto found = quota();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cpus, 3.0);
  EXPECT_EQ(found->usage(), Seconds(2.0));
}

TEST_F(CpuQuotaTest, OfVersion1MayHaveItsTimesInAnotherController) {
  write("proc/self/cgroup", "4:cpu:/a\n5:cpuacct:/a\n");
  write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "100000\n");
  write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpuacct/a/cpuacct.usage", "7000000000\n");
  ASSERT_TRUE(quota());
  EXPECT_EQ(quota()->usage(), Seconds(7.0));
}

TEST_F(CpuQuotaTest, OfVersion1IsUnknownWhereItsTimesAreThoseOfAnotherGroup) {
  write("proc/self/cgroup", "4:cpu:/a\n5:cpuacct:/b\n");
  write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "100000\n");
  write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpuacct/a/cpuacct.usage", "7000000000\n");
  write("sys/fs/cgroup/cpuacct/b/cpuacct.usage", "8000000000\n");
  EXPECT_FALSE(quota());
}

TEST_F(CpuQuotaTest, OfVersion1IsOfAGroupThatHoldsTheProcessInBothControllers) {
  write("proc/self/cgroup", "4:cpu:/a/b\n5:cpuacct:/a\n");
  write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "100000\n");
  write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpuacct/a/cpuacct.usage", "7000000000\n");
  ASSERT_TRUE(quota());
  EXPECT_EQ(quota()->usage(), Seconds(7.0));
}

TEST_F(CpuQuotaTest, IsAbsentWithoutALimit) {
  EXPECT_FALSE(quota());
  write("proc/self/cgroup", "0::/a\n");
  EXPECT_FALSE(quota());
  write("sys/fs/cgroup/a/cpu.max", "max 100000\n");
  EXPECT_FALSE(quota());
}

TEST_F(CpuQuotaTest, IsIgnoredWhereTheTimeOfItsGroupIsNotKnown) {
  write("proc/self/cgroup", "0::/a\n");
  write("sys/fs/cgroup/a/cpu.max", "100000 100000\n");
  EXPECT_FALSE(quota());
}

}  // namespace
}  // namespace wattle
