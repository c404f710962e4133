#include "top/group_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "made_up_machine.hpp"
#include "usage/process/process_times.hpp"

namespace wattle::app {
namespace {

double sum_of_shares(const GroupTable& table) {
  double sum = 0.0;
  for (const GroupRow& row : table.groups) sum += row.share.value_or(0.0);
  for (const GroupRow& row : table.others) sum += row.share.value_or(0.0);
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

/// The reason for which the first GPU is not divided; all of its power is in that row.
std::string why_not_divided(const TopObservation& seen) {
  constexpr std::string_view kStart = "not divided: nvidia_gpu_0: ";
  const GroupTable table = group_rows(seen, TopKey::user);
  EXPECT_NEAR(sum_of_shares(table), 100.0, 1e-9);
  for (const GroupRow& row : table.others) {
    if (!row.name.starts_with(kStart)) continue;
    EXPECT_NEAR(watts_of(&row), 300.0, 1e-9);
    return row.name.substr(kStart.size());
  }
  return "";
}

TEST(GroupRows, SayWhyAGpuIsNotDivided) {
  TopObservation seen = made_up_machine();
  TopDevice& gpu = seen.devices[3];
  gpu.users.reset();
  EXPECT_EQ(why_not_divided(seen), "the driver does not list its processes");
  gpu.users = {{.pid = 20}, {.pid = 30}};
  EXPECT_EQ(why_not_divided(seen), "the driver does not report who uses how much of it");
  gpu.users = {{.pid = 20, .part = 0.0}, {.pid = 30, .part = 0.0}};
  EXPECT_EQ(why_not_divided(seen), "it worked for none of its processes");
  gpu.users = std::vector{GpuUser{.pid = 20}};
  gpu.users_unknown = "only root sees all processes that use it";
  EXPECT_EQ(why_not_divided(seen), "only root sees all processes that use it");
}

TEST(GroupRows, TakeAGpuWithoutProcessesForIdleOnlyWhereItIsNotInUse) {
  TopObservation seen = made_up_machine();
  TopDevice& gpu = seen.devices[3];
  gpu.users.emplace();
  EXPECT_EQ(why_not_divided(seen), "it is in use, but no process is listed");
  gpu.utilization_percent.reset();
  EXPECT_EQ(why_not_divided(seen), "no process is listed, and its utilization is unknown");
  gpu.utilization_percent = 0.0;
  EXPECT_EQ(why_not_divided(seen), "");
  EXPECT_NEAR(watts_of(row_of(group_rows(seen, TopKey::user).others, "idle machine")),
              50.0 + 300.0 + 60.0, 1e-9);
}

TEST(GroupRows, DoNotGiveTheServerOfMpsWhatItsClientsUse) {
  TopObservation seen = made_up_machine();
  seen.processes.push_back(made_up_process(50, 1, "nvidia-cuda-mps", "alice", 0.1));
  seen.devices[3].users = {{.pid = 50, .part = 1.0}};
  EXPECT_EQ(why_not_divided(seen), "an MPS server uses it, and the driver does not list for whom");
}

TEST(GroupRows, HaveOneRowForAllGpusThatAreNotDividedForTheSameReason) {
  TopObservation seen = made_up_machine();
  seen.devices[3].users.reset();
  seen.devices[4].users.reset();
  const std::string why = ": the driver does not list its processes";
  const GroupTable two = group_rows(seen, TopKey::user);
  EXPECT_NEAR(watts_of(row_of(two.others, "not divided: nvidia_gpu_0, nvidia_gpu_1" + why)), 360.0,
              1e-9);
  seen.devices.push_back(seen.devices[4]);
  const GroupTable three = group_rows(seen, TopKey::user);
  EXPECT_NEAR(watts_of(row_of(three.others, "not divided: 3 GPUs" + why)), 420.0, 1e-9);
}

TEST(GroupRows, GiveAGpuOfAProcessThatWasNotSeenToNobody) {
  TopObservation seen = made_up_machine();
  seen.devices[3].users = std::vector{GpuUser{.pid = 4711}};
  const GroupTable table = group_rows(seen, TopKey::user);
  EXPECT_NEAR(watts_of(row_of(table.others,
                              "not divided: nvidia_gpu_0: a process that is not seen "
                              "here uses it")),
              300.0, 1e-9);
}

TEST(GroupRows, DivideNoCpuPowerWhereThatOfADeviceIsNotKnown) {
  for (const std::size_t i : {0U, 1U, 2U}) {
    TopObservation seen = made_up_machine();
    const double known_w = 130.0 - seen.devices[i].power->value;
    seen.devices[i].power.reset();
    const GroupTable table = group_rows(seen, TopKey::command);
    const std::string name = seen.devices[i].name;
    EXPECT_NEAR(watts_of(row_of(table.others, "not divided: CPUs and DRAM: the power of " + name +
                                                  " is unknown")),
                known_w, 1e-9);
    EXPECT_NEAR(watts_of(row_of(table.others, "idle machine")), 60.0, 1e-9)
        << "the baseline is that of all of them";
    EXPECT_NEAR(sum_of_shares(table), 100.0, 1e-9);
  }
}

TEST(GroupRows, DivideNoCpuPowerWithoutABaseline) {
  TopObservation seen = made_up_machine();
  seen.idle.reset();
  const GroupTable table = group_rows(seen, TopKey::command);
  EXPECT_EQ(table.share_of, ShareOf::power);
  EXPECT_NEAR(watts_of(row_of(table.others, "not divided: CPUs and DRAM: no baseline")), 130.0,
              1e-9);
  EXPECT_NEAR(watts_of(row_of(table.groups, "python")), 300.0, 1e-9);
  EXPECT_FALSE(row_of(table.groups, "gcc")->share) << "its part of the CPUs is not known, not 0";
}

TEST(GroupRows, DivideNoCpuPowerThatIsBelowIdle) {
  TopObservation seen = made_up_machine();
  seen.idle = IdleRange{.low = Watts(148.0), .typical = Watts(150.0), .high = Watts(152.0)};
  const GroupTable table = group_rows(seen, TopKey::command);
  EXPECT_NEAR(watts_of(row_of(table.others,
                              "not divided: CPUs and DRAM: less power than the "
                              "baseline of the idle machine")),
              130.0, 1e-9);
}

TEST(GroupRows, ShareCpuTimeWhereGpusCannotBeDividedEither) {
  TopObservation seen = made_up_machine();
  seen.idle.reset();
  for (const std::size_t i : {3U, 4U}) seen.devices[i].users.reset();
  const GroupTable table = group_rows(seen, TopKey::command);
  EXPECT_EQ(table.share_of, ShareOf::cpu_time);
  EXPECT_NEAR(row_of(table.groups, "python")->share.value_or(-1.0), 75.0, 1e-9);
  EXPECT_EQ(table.notes, std::vector<std::string>{
                             "not divided: nvidia_gpu_0, nvidia_gpu_1: the driver does not list "
                             "its processes"});
}

TEST(GroupRows, SayOfWhichProcessesTheCpuTimeIsNotKnown) {
  TopObservation seen = made_up_machine();
  seen.processes[3].cpu.reset();
  const GroupTable table = group_rows(seen, TopKey::command);
  EXPECT_EQ(row_of(table.groups, "gcc")->unknown_cpu, 1U);
  EXPECT_EQ(row_of(table.groups, "gcc")->cpu, Seconds(0.1)) << "that of the other";
  EXPECT_EQ(row_of(table.groups, "python")->unknown_cpu, 0U);
  EXPECT_NEAR(sum_of_shares(table), 100.0, 1e-9);
}

TEST(GroupRows, HaveNoShareOfPowerWhereTheirCpuTimeIsNotKnown) {
  TopObservation seen = made_up_machine();
  for (TopProcess& process : seen.processes) {
    if (process.command == "gcc") process.cpu.reset();
  }
  const GroupTable table = group_rows(seen, TopKey::command);
  ASSERT_EQ(table.share_of, ShareOf::power);
  EXPECT_EQ(row_of(table.groups, "gcc")->share, std::nullopt);
  EXPECT_NE(row_of(table.others, "interrupts, and processes of unknown CPU time"), nullptr);
  EXPECT_NEAR(sum_of_shares(table), 100.0, 1e-9);
}

TEST(GroupRows, KeepTheMemoryOfAGpuWhosePowerIsNotKnown) {
  TopObservation seen = made_up_machine();
  seen.devices[3].power.reset();
  const GroupTable table = group_rows(seen, TopKey::command);
  EXPECT_EQ(row_of(table.groups, "python")->gpu_memory_bytes, 19'000'000'000U);
  EXPECT_EQ(table.notes, std::vector<std::string>{"the power of nvidia_gpu_0 is unknown"});
}

TEST(GroupRows, ShareCpuTimeWhereNoPowerCanBeDivided) {
  TopObservation seen = made_up_machine();
  seen.devices.resize(3);
  seen.idle.reset();
  const GroupTable table = group_rows(seen, TopKey::command);
  EXPECT_EQ(table.share_of, ShareOf::cpu_time);
  EXPECT_NEAR(row_of(table.groups, "python")->share.value_or(-1.0), 75.0, 1e-9);
  EXPECT_FALSE(row_of(table.groups, "python")->energy);
  EXPECT_NEAR(row_of(table.others, "interrupts, and processes that ended")->share.value_or(-1.0),
              5.0, 1e-9);
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
  EXPECT_NEAR(row_of(table.others, "idle machine")->share.value_or(-1.0), 60.0, 1e-9);
  EXPECT_NEAR(sum_of_shares(table), 100.0, 1e-9);
}

TEST(GroupRows, OfAPeriodWithoutLengthHaveNoShares) {
  TopObservation seen = made_up_machine();
  seen.length.reset();
  seen.busy.reset();
  for (TopProcess& process : seen.processes) process.cpu = Seconds(0);
  const GroupTable table = group_rows(seen, TopKey::command);
  for (const GroupRow& row : table.groups) EXPECT_FALSE(row.share) << row.name;
  EXPECT_FALSE(table.length);
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
    std::vector<GroupRow> rows(shares.size() + 1);  // the last one is not known
    for (std::size_t i = 0; i < shares.size(); ++i) rows[i].share = shares[i];
    round_shares(rows);
    double sum = 0.0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      EXPECT_NEAR(*rows[i].share, shares[i], 0.1);
      EXPECT_NEAR(*rows[i].share * 10.0, std::round(*rows[i].share * 10.0), 1e-9);
      sum += *rows[i].share;
    }
    EXPECT_NEAR(sum, 100.0, 1e-9);
    EXPECT_FALSE(rows.back().share);
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
