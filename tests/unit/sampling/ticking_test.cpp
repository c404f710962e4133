#include "sampling/ticking.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>

#include "fakes/gated_sensor.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using fakes::eventually;
using fakes::kLongWait;

/// How often the work was done, and whether that was the last time.
struct Count {
  std::atomic<int> all{0};
  std::atomic<int> last{0};
};

Ticking::Work counted(const std::shared_ptr<Count>& count) {
  return [count](bool last) {
    ++count->all;
    if (last) ++count->last;
  };
}

TEST(Ticking, WorksUntilItIsStoppedAndOnceMoreThen) {
  const auto count = std::make_shared<Count>();
  Ticking ticking(counted(count), 1ms);
  EXPECT_TRUE(eventually([&] { return count->all > 3; }));
  EXPECT_EQ(count->last, 0);
  EXPECT_TRUE(ticking.stop(kLongWait));
  EXPECT_EQ(count->last, 1);
  const int all = count->all;
  EXPECT_TRUE(ticking.stop(kLongWait)) << "again";
  EXPECT_EQ(count->all, all);
}

TEST(Ticking, OwnsNothingOfItsWorkOnceItIsStopped) {
  for (int i = 0; i < 200; ++i) {
    const auto count = std::make_shared<Count>();
    Ticking ticking(counted(count), 1ms);
    ASSERT_TRUE(ticking.stop(kLongWait));
    ASSERT_EQ(count.use_count(), 1) << "round " << i;
  }
}

TEST(Ticking, IsStoppedBeforeItsFirstTick) {
  const auto count = std::make_shared<Count>();
  EXPECT_TRUE(Ticking(counted(count), 1h).stop(kLongWait));
  EXPECT_EQ(count->all, 1);
  EXPECT_EQ(count->last, 1);
}

TEST(Ticking, GivesUpWorkThatDoesNotEnd) {
  const auto gate = std::make_shared<fakes::Gate>();
  gate->shut();
  const auto done = std::make_shared<std::atomic<bool>>(false);
  {
    Ticking ticking(
        [gate, done](bool last) {
          gate->pass();
          *done = last;
        },
        1ms);
    EXPECT_TRUE(eventually([&] { return gate->waiting.load(); }));
    EXPECT_FALSE(ticking.stop(1ms));
  }
  gate->open();
  EXPECT_TRUE(eventually([&] { return done->load(); })) << "it owns what it touches";
}

TEST(Ticking, DoesNothingInAForkedChild) {
  const auto count = std::make_shared<Count>();
  Ticking ticking(counted(count), 1ms);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(ticking.stop(1h) ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(count->last, 0);
  EXPECT_TRUE(ticking.stop(kLongWait));
}

}  // namespace
}  // namespace wattle
