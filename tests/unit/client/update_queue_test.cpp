#include "client/update_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace wattle::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Update of(std::uint32_t slot, double power_w, bool ends_event = true) {
  return {.power_w = power_w, .slot = slot, .ends_event = ends_event};
}

std::vector<double> step(UpdateQueue& queue) {
  std::vector<double> powers;
  queue.take_step([&](const Update& update) { powers.push_back(update.power_w); });
  return powers;
}

TEST(AnUpdateQueue, GivesOneEventAfterTheOther) {
  UpdateQueue queue(100);
  queue.expect_slots(2);
  queue.push(of(0, 1.0));
  queue.push(of(0, 2.0, false));
  queue.push(of(1, 3.0));
  EXPECT_THAT(step(queue), ElementsAre(1.0));
  EXPECT_THAT(step(queue), ElementsAre(2.0, 3.0));
  EXPECT_TRUE(queue.empty());
  EXPECT_THAT(step(queue), IsEmpty());
}

TEST(AnUpdateQueue, KeepsItsOrderWhileItGrowsAndWraps) {
  UpdateQueue queue(1000);
  queue.expect_slots(1);
  double next = 0.0;
  double expected = 0.0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 30; ++i) queue.push(of(0, next++));
    for (int i = 0; i < 20; ++i) ASSERT_THAT(step(queue), ElementsAre(expected++));
  }
  EXPECT_EQ(queue.dropped(), 0U);
}

TEST(AnUpdateQueue, DropsTheOldestAndCountsThem) {
  UpdateQueue queue(3);
  queue.expect_slots(1);
  for (int i = 0; i < 10; ++i) queue.push(of(0, i));
  EXPECT_EQ(queue.dropped(), 7U);
}

TEST(AnUpdateQueue, GivesTheNewestOfWhatWasDroppedFirst) {
  UpdateQueue queue(2);
  queue.expect_slots(3);
  queue.push(of(0, 1.0));
  queue.push(of(1, 2.0));
  queue.push(of(0, 3.0));
  queue.push(of(2, 4.0));
  queue.push(of(2, 5.0));
  EXPECT_THAT(step(queue), ElementsAre(3.0, 2.0, 4.0)) << "of slots 0 and 1, and the next event";
  EXPECT_THAT(step(queue), ElementsAre(5.0));
  EXPECT_EQ(queue.dropped(), 3U);
}

TEST(AnUpdateQueue, WithoutALimitToKeepToKeepsTheNewestOfEach) {
  UpdateQueue queue(0);
  queue.expect_slots(2);
  for (int i = 0; i < 10; ++i) queue.push(of(static_cast<std::uint32_t>(i % 2), i));
  EXPECT_THAT(step(queue), ElementsAre(8.0, 9.0));
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.dropped(), 0U);
}

TEST(AnUpdateQueue, TakesSlotsThatComeLater) {
  UpdateQueue queue(0);
  queue.expect_slots(1);
  queue.push(of(0, 1.0));
  queue.expect_slots(5);
  queue.push(of(4, 2.0));
  EXPECT_THAT(step(queue), ElementsAre(1.0, 2.0));
}

}  // namespace
}  // namespace wattle::client
