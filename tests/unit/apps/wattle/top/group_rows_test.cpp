#include "top/group_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "made_up_machine.hpp"
#include "usage/process/process_times.hpp"

namespace wattle::app {
namespace {

double sum_of_shares(const GroupTable& table) {
  double sum = 0.0;
  for (const GroupRow& row : table.groups) sum += row.share;
  for (const GroupRow& row : table.others) sum += row.share;
  return sum;
}

const GroupRow* row_of(const std::vector<GroupRow>& rows, const std::string& name) {
  const auto found = std::ranges::find(rows, name, &GroupRow::name);
  return found == rows.end() ? nullptr : &*found;
}

double watts_of(const GroupRow* row) {
  return row != nullptr && row->energy ? row->energy->typical.si() : -1.0;
}

TEST(GroupRows, DivideTheMeasuredPowerSoThatSharesCloseForEveryKey) {
  for (const TopKey key : {TopKey::command, TopKey::user, TopKey::cgroup, TopKey::container,
                           TopKey::pod, TopKey::process}) {
    const GroupTable table = group_rows(made_up_machine(), key);
    EXPECT_EQ(table.share_of, ShareOf::power);
    EXPECT_NEAR(sum_of_shares(table), 100.0, 1e-9);
  }
}

TEST(GroupRows, DivideCpusByCpuTimeAboveIdleAndAGpuByItsUser) {
  const GroupTable table = group_rows(made_up_machine(), TopKey::command);
  // 80 W above idle over 2 s of CPU time; the GPU of 300 W is python's.
  EXPECT_NEAR(watts_of(row_of(table.groups, "python")), 80.0 * 1.5 / 2.0 + 300.0, 1e-9);
  EXPECT_NEAR(watts_of(row_of(table.groups, "gcc")), 80.0 * 0.3 / 2.0, 1e-9);
  // Nobody uses the other GPU.
  EXPECT_NEAR(watts_of(row_of(table.others, "idle machine")), 50.0 + 60.0, 1e-9);
  EXPECT_EQ(row_of(table.groups, "python")->gpu_memory_bytes, 19'000'000'000U);
  EXPECT_EQ(row_of(table.groups, "gcc")->processes, 2U);
}

TEST(GroupRows, DivideASharedGpuByTheTimeThatItWorkedForEach) {
  TopObservation seen = made_up_machine();
  seen.devices[3].users = {{.pid = 20, .part = 0.75}, {.pid = 30, .part = 0.25}};
  const GroupTable table = group_rows(seen, TopKey::user);
  EXPECT_NEAR(watts_of(row_of(table.groups, "bob")), 80.0 * 0.1 / 2.0 + 75.0, 1e-9);
  EXPECT_NEAR(*row_of(table.groups, "bob")->gpu_percent, 20.0, 1e-9);
}

TEST(GroupRows, DoNotDivideAGpuWhoseUsersAreNotKnown) {
  for (const bool knows_users : {false, true}) {
    TopObservation seen = made_up_machine();
    seen.devices[3].users.reset();
    if (knows_users) seen.devices[3].users = {{.pid = 20}, {.pid = 30}};
    const GroupTable table = group_rows(seen, TopKey::user);
    EXPECT_NEAR(watts_of(row_of(table.others, "not divided: users not known")), 300.0, 1e-9);
    EXPECT_NEAR(sum_of_shares(table), 100.0, 1e-9);
  }
}

TEST(GroupRows, GiveAGpuOfAProcessThatWasNotSeenToNobody) {
  TopObservation seen = made_up_machine();
  seen.devices[3].users = std::vector{GpuUser{.pid = 4711}};
  const GroupTable table = group_rows(seen, TopKey::user);
  EXPECT_NEAR(watts_of(row_of(table.others, "not divided: users not known")), 300.0, 1e-9);
}

TEST(GroupRows, DivideNoCpuPowerWithoutABaseline) {
  TopObservation seen = made_up_machine();
  seen.idle.reset();
  const GroupTable table = group_rows(seen, TopKey::command);
  EXPECT_EQ(table.share_of, ShareOf::power);
  EXPECT_NEAR(watts_of(row_of(table.others, "CPUs and DRAM: no baseline to divide by")), 130.0,
              1e-9);
  EXPECT_NEAR(watts_of(row_of(table.groups, "python")), 300.0, 1e-9);
}

TEST(GroupRows, DivideNoCpuPowerThatIsBelowIdle) {
  TopObservation seen = made_up_machine();
  seen.idle = IdleRange{.low = Watts(148.0), .typical = Watts(150.0), .high = Watts(152.0)};
  const GroupTable table = group_rows(seen, TopKey::command);
  EXPECT_NEAR(watts_of(row_of(table.others, "CPUs and DRAM: no baseline to divide by")), 130.0,
              1e-9);
}

TEST(GroupRows, ShareCpuTimeWhereNoPowerCanBeDivided) {
  TopObservation seen = made_up_machine();
  seen.devices.resize(3);
  seen.idle.reset();
  const GroupTable table = group_rows(seen, TopKey::command);
  EXPECT_EQ(table.share_of, ShareOf::cpu_time);
  EXPECT_NEAR(row_of(table.groups, "python")->share, 75.0, 1e-9);
  EXPECT_FALSE(row_of(table.groups, "python")->energy);
  EXPECT_NEAR(row_of(table.others, "interrupts, and processes that ended")->share, 5.0, 1e-9);
  EXPECT_NEAR(sum_of_shares(table), 100.0, 1e-9);
}

TEST(GroupRows, ShareAnEstimateWhereItWasAskedFor) {
  TopObservation seen = made_up_machine();
  seen.devices.clear();
  seen.idle.reset();
  seen.estimate = TopEstimate{.machine = {Joules(50.0), Joules(100.0), Joules(300.0)},
                              .busy = {Joules(10.0), Joules(40.0), Joules(90.0)},
                              .basis = "SPECpower"};
  const GroupTable table = group_rows(seen, TopKey::command);
  EXPECT_EQ(table.share_of, ShareOf::estimate);
  EXPECT_NEAR(watts_of(row_of(table.groups, "python")), 30.0, 1e-9);
  EXPECT_NEAR(row_of(table.others, "idle machine")->share, 60.0, 1e-9);
  EXPECT_NEAR(sum_of_shares(table), 100.0, 1e-9);
}

TEST(GroupRows, OfAPeriodWithoutLengthHaveNoShares) {
  TopObservation seen = made_up_machine();
  seen.length = Seconds(0);
  seen.busy.reset();
  for (TopProcess& process : seen.processes) process.cpu = Seconds(0);
  EXPECT_EQ(sum_of_shares(group_rows(seen, TopKey::command)), 0.0);
}

TEST(GroupRows, OfATreeComeAfterTheirParents) {
  const TopObservation seen = made_up_machine();
  std::vector<GroupRow> rows = group_rows(seen, TopKey::process).groups;
  std::ranges::reverse(rows);
  order_as_tree(rows, seen.processes);
  std::vector<std::pair<pid_t, std::size_t>> order;
  for (const GroupRow& row : rows) order.emplace_back(row.pid, row.depth);
  const std::vector<std::pair<pid_t, std::size_t>> expected = {
      {1, 0}, {30, 1}, {10, 1}, {21, 2}, {20, 2}};
  EXPECT_EQ(order, expected);
}

TEST(GroupRows, OfACircleAreEachThereOnce) {
  std::vector<TopProcess> processes = {{.pid = 1, .parent = 2}, {.pid = 2, .parent = 1}};
  std::vector<GroupRow> rows = {{.pid = 1}, {.pid = 2}};
  order_as_tree(rows, processes);
  EXPECT_EQ(rows.size(), 2U);
}

TEST(RoundedShares, AddUpToTheRoundedSum) {
  for (const std::vector<double>& shares :
       {std::vector<double>{33.333, 33.333, 33.334}, std::vector<double>{0.04, 0.04, 99.92},
        std::vector<double>(7, 100.0 / 7.0)}) {
    const std::vector<double> rounded = rounded_shares(shares);
    EXPECT_NEAR(std::accumulate(rounded.begin(), rounded.end(), 0.0), 100.0, 1e-9);
    for (std::size_t i = 0; i < shares.size(); ++i) EXPECT_NEAR(rounded[i], shares[i], 0.1);
  }
}

TEST(Pods, AreFoundInThePathOfAControlGroup) {
  EXPECT_EQ(pod_in("/kubepods/burstable/pod0a1b2c3d-1111-2222-3333-444455556666/abc"), "0a1b2c3d");
  EXPECT_EQ(pod_in("/kubepods.slice/kubepods-pod0a1b2c3d_1111_2222_3333_444455556666.slice"),
            "0a1b2c3d");
  EXPECT_EQ(pod_in("/system.slice/podman.service"), "");
  EXPECT_EQ(pod_in(""), "");
}

}  // namespace
}  // namespace wattle::app
