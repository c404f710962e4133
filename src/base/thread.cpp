#include "base/thread.hpp"

#include <pthread.h>

#include <csignal>
#include <memory>
#include <system_error>
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

void* run_work(void* argument) {
  const std::unique_ptr<std::function<void()>> work(static_cast<std::function<void()>*>(argument));
  (*work)();
  return nullptr;
}

}  // namespace

std::thread start_thread(std::function<void()> work) {
  const SignalBlock block;
  return std::thread(std::move(work));
}

void start_detached(std::function<void()> work) {
  const SignalBlock block;
  auto owned = std::make_unique<std::function<void()>>(std::move(work));
  pthread_attr_t attributes{};
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ::pthread_attr_setstacksize(&attributes, kDetachedStackBytes);
  pthread_t thread{};
  const int error = ::pthread_create(&thread, &attributes, run_work, owned.get());
  ::pthread_attr_destroy(&attributes);
  if (error != 0) throw std::system_error(error, std::generic_category());
  static_cast<void>(owned.release());  // the thread's now
}

}  // namespace wattle
