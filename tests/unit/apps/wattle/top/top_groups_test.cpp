#include "top/top_groups.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace wattle::app {
namespace {

std::string by_name(const ProcessUse& use) { return use.name; }

TEST(TopGroups, AddUpToEverything) {
  const TopGroups top =
      group_uses({{1, "gcc", Seconds(2.0)}, {2, "sshd", Seconds(0.5)}, {3, "gcc", Seconds(1.0)}},
                 Seconds(4.0), by_name);
  ASSERT_EQ(top.groups.size(), 2U);
  EXPECT_EQ(top.groups[0].name, "gcc");
  EXPECT_EQ(top.groups[0].processes, 2U);
  EXPECT_DOUBLE_EQ(top.groups[0].percent, 75.0);
  EXPECT_DOUBLE_EQ(top.rest.cpu.count(), 0.5);
  EXPECT_DOUBLE_EQ(top.groups[0].percent + top.groups[1].percent + top.rest.percent, 100.0);
}

TEST(TopGroups, OfMoreThanTheMachineShowsAreEverything) {
  const TopGroups top = group_uses({{1, "a", Seconds(1.01)}}, Seconds(1.0), by_name);
  EXPECT_DOUBLE_EQ(top.groups[0].percent, 100.0);
  EXPECT_DOUBLE_EQ(top.rest.cpu.count(), 0.0);
}

TEST(TopGroups, OfAnIdleMachineAreNone) {
  const TopGroups top = group_uses({}, Seconds(0), by_name);
  EXPECT_TRUE(top.groups.empty());
  EXPECT_EQ(top.rest.percent, 0.0);
}

TEST(TopGroups, ShareWhatWasMeasuredAboveIdle) {
  TopGroups top =
      group_uses({{1, "a", Seconds(3.0)}, {2, "b", Seconds(1.0)}}, Seconds(4.0), by_name);
  const IdleRange idle{.low = Watts(48.0), .typical = Watts(50.0), .high = Watts(52.0)};
  EXPECT_DOUBLE_EQ(share_energy(top, Seconds(1.0), Joules(90.0), idle).si(), 50.0);
  EXPECT_DOUBLE_EQ(top.groups[0].energy->typical.si(), 30.0);
  EXPECT_DOUBLE_EQ(top.groups[1].energy->typical.si(), 10.0);
  EXPECT_LT(top.groups[1].energy->low.si(), 10.0);
  EXPECT_GT(top.groups[1].energy->high.si(), 10.0);
  EXPECT_DOUBLE_EQ(top.rest.energy->typical.si(), 0.0);
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

TEST(TopGroups, AreNamedByTheControlGroup) {
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
