#include "sampling/ticking.hpp"

#include <condition_variable>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "base/forks.hpp"
#include "base/thread.hpp"
#include "sampling/schedule.hpp"
#include "wattle/error.hpp"

namespace wattle {

using std::chrono::nanoseconds;

struct Ticking::State {
  Work work;
  nanoseconds period;
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  bool ended = false;

  void run() noexcept {
    Schedule schedule(std::chrono::steady_clock::now(), period);
    std::unique_lock lock(mutex);
    for (bool last = false; !last;) {
      last = changed.wait_until(lock, schedule.next(), [&] { return stopping; });
      lock.unlock();
      work(last);
      schedule.advance(std::chrono::steady_clock::now());
      // Who has stopped it owns all that the work used, such as locked files: none is left here.
      if (last) work = nullptr;
      lock.lock();
    }
    ended = true;
    changed.notify_all();
  }
};

Ticking::Ticking(Work work, nanoseconds period)
    : state_(std::make_shared<State>()), forks_(forks()) {
  state_->work = std::move(work);
  state_->period = period;
  try {
    start_detached([state = state_] { state->run(); });
  } catch (const std::system_error& error) {
    throw Error("cannot start the sampling thread: " + error.code().message());
  }
}

Ticking::~Ticking() {
  if (forks_ != forks()) {
    // The thread that would let go of it is the parent's.
    static_cast<void>(new (std::nothrow) std::shared_ptr<State>(std::move(state_)));
    return;
  }
  (void)stop(nanoseconds(0));
}

bool Ticking::stop(nanoseconds patience) noexcept {
  if (forks_ != forks()) return true;
  std::unique_lock lock(state_->mutex);
  state_->stopping = true;
  state_->changed.notify_all();
  return state_->changed.wait_for(lock, patience, [&] { return state_->ended; });
}

}  // namespace wattle
