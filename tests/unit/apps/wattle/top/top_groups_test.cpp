#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "top/group_rows.hpp"
#include "usage/process/process_times.hpp"

namespace wattle::app {
namespace {

DividedCpus four_busy_seconds() {
  return {.wall = Seconds(1.0),
          .measured = Joules(90.0),
          .idle = {.low = Watts(48.0), .typical = Watts(50.0), .high = Watts(52.0)},
          .cpu = Seconds(4.0)};
}

TEST(DividedCpus, AddUpToWhatWasMeasured) {
  const DividedCpus cpus = four_busy_seconds();
  EXPECT_DOUBLE_EQ(idle_part(cpus).si(), 50.0);
  const EnergyRange quarter = part_of(cpus, Seconds(1.0));
  EXPECT_DOUBLE_EQ(part_of(cpus, Seconds(3.0)).typical.si(), 30.0);
  EXPECT_DOUBLE_EQ(quarter.typical.si(), 10.0);
  EXPECT_LT(quarter.low.si(), 10.0);
  EXPECT_GT(quarter.high.si(), 10.0);
  EXPECT_DOUBLE_EQ(part_of(cpus, Seconds(0)).typical.si(), 0.0);
}

TEST(DividedCpus, HaveNoMoreIdleThanWasMeasured) {
  DividedCpus cpus = four_busy_seconds();
  cpus.measured = Joules(40.0);
  EXPECT_DOUBLE_EQ(idle_part(cpus).si(), 40.0);
  EXPECT_DOUBLE_EQ(part_of(cpus, Seconds(4.0)).typical.si(), 0.0);
}

TEST(ProcessTimes, GiveWhatEachProcessUsedSince) {
  const std::vector<ProcessTimes> before = {{1, 10, "init", 500}, {7, 20, "old", 90}};
  const std::vector<ProcessTimes> after = {
      {1, 10, "init", 550}, {7, 99, "new", 25}, {9, 50, "idle", 0}};
  const std::vector<ProcessUse> uses = uses_between(before, after);
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[0].name, "init");
  EXPECT_DOUBLE_EQ(uses[0].cpu.count(), 0.5);
  EXPECT_EQ(uses[1].name, "new");
  EXPECT_DOUBLE_EQ(uses[1].cpu.count(), 0.25);
}

TEST(ProcessTimes, DoNotCountThePastOfOneThatWasNotRead) {
  const std::vector<ProcessTimes> after = {{1, 10, "init", 500}, {5, 15, "seen again", 9000}};
  EXPECT_TRUE(uses_between({{1, 10, "init", 500}, {7, 20, "other", 90}}, after).empty());
  EXPECT_TRUE(uses_between({}, after).empty()) << "nothing could be listed";
}

TEST(GroupRows, OfMoreCpuTimeThanTheMachineShowsAreEverything) {
  const GroupTable table =
      group_rows({.length = Seconds(1.0),
                  .processes = {{.pid = 1, .command = "a", .cpu = Seconds(1.01)}},
                  .busy = Seconds(1.0)},
                 TopKey::command);
  ASSERT_EQ(table.groups.size(), 1U);
  EXPECT_DOUBLE_EQ(table.groups[0].share.value_or(0.0), 100.0);
  EXPECT_TRUE(table.others.empty());
}

TEST(GroupNames, AreTakenFromTheControlGroup) {
  const std::string id(64, 'a');
  const std::string pod = "/kubepods/burstable/pod0a1b2c3d-1111-2222-3333-444455556666/";
  EXPECT_EQ(name_in_cgroup(pod + id, TopKey::cgroup), pod + id);
  EXPECT_EQ(name_in_cgroup(pod + id, TopKey::container), "aaaaaaaaaaaa");
  EXPECT_EQ(name_in_cgroup(pod + id, TopKey::pod), "0a1b2c3d");
  EXPECT_EQ(name_in_cgroup("/user.slice", TopKey::container), "no container");
  EXPECT_EQ(name_in_cgroup("/user.slice", TopKey::pod), "no pod");
}

TEST(Containers, AreFoundInThePathsOfTheirGroups) {
  const std::string id(64, 'a');
  EXPECT_EQ(container_in("/docker/" + id), "aaaaaaaaaaaa");
  EXPECT_EQ(container_in("/system.slice/docker-" + id + ".scope"), "aaaaaaaaaaaa");
  EXPECT_EQ(container_in("/kubepods/burstable/pod1/cri-containerd-" + id + ".scope"),
            "aaaaaaaaaaaa");
  EXPECT_EQ(container_in("/user.slice/user-1000.slice"), "");
  EXPECT_EQ(container_in(""), "");
}

}  // namespace
}  // namespace wattle::app
