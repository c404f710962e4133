#include "base/thread.hpp"

#include <csignal>
#include <thread>
#include <utility>

namespace wattle {
namespace {

/// Blocks all signals of the calling thread for as long as it lives. A new thread inherits that.
class SignalBlock {
 public:
  SignalBlock() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;
  ~SignalBlock() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

void start_detached(std::function<void()> work) {
  const SignalBlock block;
  std::thread(std::move(work)).detach();
}

}  // namespace wattle
