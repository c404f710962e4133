#include "http/frame_queue.hpp"

#include <gtest/gtest.h>

#include <string>

namespace wattle::daemon {
namespace {

Frame frame(int number) { return std::make_shared<const std::string>(std::to_string(number)); }

TEST(FrameQueue, GivesFramesInTheirOrder) {
  FrameQueue queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_TRUE(queue.push(frame(10)));
  EXPECT_TRUE(queue.push(frame(11)));
  EXPECT_EQ(queue.next(), "10");
  queue.advance(2);
  EXPECT_EQ(queue.next(), "11");
  queue.advance(2);
  EXPECT_TRUE(queue.empty());
}

TEST(FrameQueue, GoesOnWhereAFrameWasLeft) {
  FrameQueue queue;
  queue.push(frame(123));
  queue.advance(1);
  EXPECT_EQ(queue.next(), "23");
  queue.advance(2);
  EXPECT_TRUE(queue.empty());
}

TEST(FrameQueue, DropsTheOldestButTheFirstWhereItIsFull) {
  FrameQueue queue;
  for (int i = 0; i < static_cast<int>(FrameQueue::kMost); ++i) {
    EXPECT_TRUE(queue.push(frame(100 + i)));
  }
  EXPECT_FALSE(queue.push(frame(1000)));
  EXPECT_EQ(queue.next(), "100");
  queue.advance(3);
  EXPECT_EQ(queue.next(), "102");
}

TEST(FrameQueue, NeverDropsTheRestOfAFrame) {
  FrameQueue queue;
  for (int i = 0; i < static_cast<int>(FrameQueue::kMost); ++i) queue.push(frame(100 + i));
  queue.advance(1);
  EXPECT_FALSE(queue.push(frame(1000)));
  EXPECT_EQ(queue.next(), "00");
  queue.advance(2);
  EXPECT_EQ(queue.next(), "102");
}

}  // namespace
}  // namespace wattle::daemon
