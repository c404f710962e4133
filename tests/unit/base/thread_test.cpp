#include "base/thread.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <future>
#include <memory>

namespace wattle {
namespace {

TEST(DetachedThread, ReceivesNoSignals) {
  const auto blocked = std::make_shared<std::promise<bool>>();
  start_detached([blocked] {
    sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    blocked->set_value(::sigismember(&mask, SIGTERM) == 1 && ::sigismember(&mask, SIGINT) == 1);
  });
  EXPECT_TRUE(blocked->get_future().get());
}

TEST(DetachedThread, LeavesTheSignalsOfItsStarterAlone) {
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  start_detached([] {});
  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < NSIG; ++signal) {
    EXPECT_EQ(::sigismember(&after, signal), ::sigismember(&before, signal)) << signal;
  }
}

}  // namespace
}  // namespace wattle
