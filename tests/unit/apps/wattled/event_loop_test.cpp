#include "http/event_loop.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace wattle::daemon {
namespace {

TEST(EventLoop, HasNoWatchForWhatTheKernelDoesNotWaitFor) {
  EventLoop loop;
  constexpr int kNone = 1'000'000;  // not open
  EXPECT_EQ(loop.watch(kNone, [] {}), nullptr);
}

TEST(EventLoop, DeliversASignalThatCameBeforeItWasWaitedFor) {
  sigset_t hangup;
  ::sigemptyset(&hangup);
  ::sigaddset(&hangup, SIGHUP);
  ::pthread_sigmask(SIG_BLOCK, &hangup, nullptr);
  ::raise(SIGHUP);
  EventLoop loop;
  int heard = 0;
  loop.on_signal(SIGHUP, [&] {
    ++heard;
    loop.stop();
  });
  loop.run();
  EXPECT_EQ(heard, 1);
}

}  // namespace
}  // namespace wattle::daemon
