#include "base/thread.hpp"

#include <csignal>
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

std::thread start_thread(std::function<void()> work) {
  const SignalBlock block;
  return std::thread(std::move(work));
}

void start_detached(std::function<void()> work) { start_thread(std::move(work)).detach(); }

}  // namespace wattle
