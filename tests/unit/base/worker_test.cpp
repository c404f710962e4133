#include "base/worker.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <future>
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

Worker::Job counted(const std::shared_ptr<Count>& count) {
  return [count] { ++count->all; };
}

Worker::Job last(const std::shared_ptr<Count>& count) {
  return [count] {
    ++count->all;
    ++count->last;
  };
}

constexpr const char* kPurpose = "the thread of a test";

TEST(Worker, WorksUntilItIsFinishedAfterTheLastJob) {
  const auto count = std::make_shared<Count>();
  Worker worker(Worker::every(1ms, counted(count)), kPurpose);
  EXPECT_TRUE(eventually([&] { return count->all > 3; }));
  EXPECT_EQ(count->last, 0);
  EXPECT_TRUE(worker.add(last(count)));
  EXPECT_TRUE(worker.finish(kLongWait));
  EXPECT_EQ(count->last, 1);
  const int all = count->all;
  EXPECT_TRUE(worker.finish(kLongWait)) << "again";
  EXPECT_FALSE(worker.add(last(count)));
  EXPECT_EQ(count->all, all);
}

TEST(Worker, OwnsNothingOfItsWorkOnceItIsStopped) {
  for (int i = 0; i < 200; ++i) {
    const auto count = std::make_shared<Count>();
    Worker worker(Worker::every(1ms, counted(count)), kPurpose);
    ASSERT_TRUE(worker.stop(kLongWait));
    ASSERT_EQ(count.use_count(), 1) << "round " << i;
  }
}

TEST(Worker, IsFinishedBeforeItsFirstTick) {
  const auto count = std::make_shared<Count>();
  Worker worker(Worker::every(1h, counted(count)), kPurpose);
  EXPECT_TRUE(worker.add(last(count)));
  EXPECT_TRUE(worker.finish(kLongWait));
  EXPECT_EQ(count->all, 1);
  EXPECT_EQ(count->last, 1);
}

TEST(Worker, GivesUpWorkThatDoesNotEnd) {
  const auto gate = std::make_shared<fakes::Gate>();
  gate->shut();
  const auto done = std::make_shared<std::atomic<bool>>(false);
  {
    Worker worker(Worker::every(1ms,
                                [gate, done] {
                                  gate->pass();
                                  *done = true;
                                }),
                  kPurpose);
    EXPECT_TRUE(eventually([&] { return gate->waiting.load(); }));
    EXPECT_FALSE(worker.finish(1ms));
  }
  gate->open();
  EXPECT_TRUE(eventually([&] { return done->load(); })) << "it owns what it touches";
}

TEST(Worker, CallsItsTurnAtOnceAndWheneverItIsWoken) {
  const auto turns = std::make_shared<std::atomic<int>>(0);
  Worker worker(
      [turns] {
        ++*turns;
        return TimePoint::max();
      },
      kPurpose);
  EXPECT_TRUE(eventually([&] { return *turns == 1; }));
  worker.wake();
  EXPECT_TRUE(eventually([&] { return *turns == 2; }));
}

TEST(Worker, DropsJobsThatHaveNotStartedWhenItIsStopped) {
  const auto gate = std::make_shared<fakes::Gate>();
  gate->shut();
  const auto count = std::make_shared<Count>();
  Worker worker;
  ASSERT_TRUE(worker.add([gate] { gate->pass(); }));
  ASSERT_TRUE(eventually([&] { return gate->waiting.load(); }));
  ASSERT_TRUE(worker.add(counted(count)));
  EXPECT_FALSE(worker.stop(0ns));
  EXPECT_EQ(count.use_count(), 1);
  gate->open();
  EXPECT_TRUE(worker.stop(kLongWait));
  EXPECT_EQ(count->all, 0);
}

TEST(Worker, RefusesACrowdThatWaitsForAJobThatHangsButNotTheLastOne) {
  constexpr std::size_t kMost = 16;
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::promise<void> last;
  std::atomic<int> done{0};
  Worker worker;
  ASSERT_TRUE(worker.add([released] { released.wait(); }, kMost));
  int taken = 0;
  while (taken < 100 && worker.add([&done] { ++done; }, kMost)) ++taken;
  EXPECT_LT(taken, 100);
  int done_before_the_last = -1;
  EXPECT_TRUE(worker.add([&] {
    done_before_the_last = done;
    last.set_value();
  }));
  release.set_value();
  last.get_future().wait();
  EXPECT_EQ(done_before_the_last, taken);
}

TEST(Worker, ReceivesNoSignals) {
  const auto blocked = std::make_shared<std::promise<bool>>();
  Worker worker;
  ASSERT_TRUE(worker.add([blocked] {
    sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    blocked->set_value(::sigismember(&mask, SIGTERM) == 1 && ::sigismember(&mask, SIGINT) == 1);
  }));
  EXPECT_TRUE(blocked->get_future().get());
}

TEST(Worker, DoesNothingInAForkedChild) {
  const auto count = std::make_shared<Count>();
  Worker worker(Worker::every(1ms, counted(count)), kPurpose);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(!worker.add(last(count)) && worker.finish(1h) ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(count->last, 0);
  EXPECT_TRUE(worker.stop(kLongWait));
}

}  // namespace
}  // namespace wattle
