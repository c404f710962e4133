#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "usage/gpu/gpu_division.hpp"

namespace wattle {
namespace {

using std::chrono::seconds;

constexpr TimePoint kStart = TimePoint(seconds(100));

ProcessList list_of(std::uint64_t number, std::vector<DeviceProcess> processes) {
  return {.at = kStart + seconds(number), .number = number, .processes = std::move(processes)};
}
DeviceProcess process(pid_t pid, int engine_ms) {
  return {.pid = pid, .engine_time = std::chrono::milliseconds(engine_ms)};
}

TEST(GpuUsers, AreKnownByTheTimeSinceTheListBefore) {
  GpuUsers users;
  const auto first = users.take(list_of(1, {process(1, 5000), process(2, 100)}), kStart);
  ASSERT_EQ(first->size(), 2U);
  EXPECT_FALSE(first->at(0).part) << "it may be from before";
  const auto second = users.take(list_of(2, {process(1, 5300), process(2, 200)}), kStart);
  EXPECT_DOUBLE_EQ(*second->at(0).part, 0.75);
  EXPECT_DOUBLE_EQ(*second->at(1).part, 0.25);
}

TEST(GpuUsers, StayTheSameWhileTheListDoes) {
  GpuUsers users;
  (void)users.take(list_of(1, {process(1, 0), process(2, 0)}), kStart);
  const ProcessList list = list_of(2, {process(1, 300), process(2, 100)});
  (void)users.take(list, kStart);
  const auto again = users.take(list, kStart);
  ASSERT_TRUE(again->at(0).part) << "two periods within one list";
  EXPECT_DOUBLE_EQ(*again->at(0).part, 0.75);
}

TEST(GpuUsers, ThatAreNewCountFromTheirStart) {
  GpuUsers users;
  (void)users.take(list_of(1, {process(1, 1000)}), kStart);
  const auto next = users.take(list_of(2, {process(1, 1100), process(7, 300)}), kStart);
  EXPECT_DOUBLE_EQ(*next->at(1).part, 0.75);
}

TEST(GpuUsers, HaveNoPartsWhereTheDriverReportsNoTimes) {
  GpuUsers users;
  (void)users.take(list_of(1, {{.pid = 1}, process(2, 100)}), kStart);
  const auto next = users.take(list_of(2, {{.pid = 1}, process(2, 200)}), kStart);
  EXPECT_FALSE(next->at(0).part);
  EXPECT_FALSE(next->at(1).part);
}

TEST(GpuUsers, AreNotKnownWithoutAList) {
  GpuUsers users;
  EXPECT_FALSE(users.take(std::nullopt, kStart));
  EXPECT_FALSE(users.take(ProcessList{.at = kStart, .number = 1}, kStart));
  const ProcessList list = list_of(2, {process(1, 0)});
  EXPECT_TRUE(users.take(list, list.at + GpuUsers::kLongest));
  EXPECT_FALSE(users.take(list, list.at + GpuUsers::kLongest + seconds(1))) << "it is too old";
}

}  // namespace
}  // namespace wattle
