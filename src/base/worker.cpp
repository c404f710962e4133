#include "base/worker.hpp"

#include <pthread.h>

#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/cpu_time.hpp"
#include "base/forks.hpp"
#include "base/schedule.hpp"
#include "base/thread.hpp"
#include "wattle/error.hpp"

namespace wattle {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

/// Shared by the worker and its thread, so that either can be the last to let go.
struct Worker::State {
  void run() noexcept;
  // With the lock:
  [[nodiscard]] bool is_turn_due() const noexcept;
  /// Waits until there is something to do.
  void wait(std::unique_lock<std::mutex>& lock);

  std::mutex mutex;
  std::condition_variable wake;     ///< of the thread
  std::condition_variable changed;  ///< to who waits for its end
  std::list<Job> jobs;              ///< an empty deque would allocate
  PeriodicWork turn;
  TimePoint next{};  ///< when the turn is due
  bool is_woken = false;
  bool has_thread = false;
  bool is_stopping = false;
  TimePoint stop_asked;
  std::optional<clockid_t> cpu_clock;  ///< of the thread, while it runs
  nanoseconds cpu_at_end{0};
};

bool Worker::State::is_turn_due() const noexcept {
  return turn && (is_woken || steady_clock::now() >= next);
}

void Worker::State::wait(std::unique_lock<std::mutex>& lock) {
  const auto is_wanted = [&] { return is_stopping || is_woken || !jobs.empty(); };
  if (!turn || next == TimePoint::max()) {
    wake.wait(lock, is_wanted);
  } else {
    wake.wait_until(lock, next, is_wanted);
  }
}

void Worker::State::run() noexcept {
  std::unique_lock lock(mutex);
  if (clockid_t own = 0; ::pthread_getcpuclockid(::pthread_self(), &own) == 0) cpu_clock = own;
  while (!is_stopping || !jobs.empty()) {
    if (!jobs.empty()) {
      Job job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      job();
      job = nullptr;  // not under the lock
      lock.lock();
    }
    if (!is_stopping && is_turn_due()) {
      is_woken = false;
      lock.unlock();
      const TimePoint later = turn();
      lock.lock();
      next = later;
    }
    if (!is_stopping && jobs.empty()) wait(lock);
  }
  // Who stops it owns all that it used, such as locked files: none is left here.
  PeriodicWork over = std::exchange(turn, nullptr);
  lock.unlock();
  over = nullptr;
  lock.lock();
  cpu_at_end = clock_time(CLOCK_THREAD_CPUTIME_ID);
  cpu_clock.reset();
  has_thread = false;
  changed.notify_all();
}

void Worker::start(const std::shared_ptr<State>& state) {
  start_detached([state] { state->run(); });
  state->has_thread = true;
}

Worker::Worker() : state_(std::make_shared<State>()), forks_(forks()) {}

Worker::Worker(PeriodicWork turn, std::string_view purpose) : Worker() {
  const std::scoped_lock lock(state_->mutex);
  state_->turn = std::move(turn);
  try {
    start(state_);
  } catch (const std::system_error& error) {
    throw Error("cannot start " + std::string(purpose) + ": " + error.code().message());
  }
}

Worker::~Worker() {
  if (is_copy()) {
    leak(state_);
  } else {
    (void)stop(nanoseconds(0));
  }
}

bool Worker::is_copy() const noexcept { return forks_ != forks(); }

bool Worker::add(Job job, std::size_t most_waiting) {
  if (is_copy()) return false;
  const std::scoped_lock lock(state_->mutex);
  if (state_->is_stopping || state_->jobs.size() >= most_waiting) return false;
  try {
    if (!state_->has_thread) start(state_);
  } catch (const std::system_error&) {
    return false;
  }
  state_->jobs.push_back(std::move(job));
  state_->wake.notify_one();
  return true;
}

void Worker::wake() noexcept {
  if (is_copy()) return;
  std::unique_lock lock(state_->mutex);
  state_->is_woken = true;
  lock.unlock();  // who is woken needs it at once
  state_->wake.notify_one();
}

bool Worker::stop(nanoseconds patience) noexcept { return end(true, patience); }

bool Worker::finish(nanoseconds patience) noexcept { return end(false, patience); }

bool Worker::end(bool drops_jobs, nanoseconds patience) noexcept {
  if (is_copy()) return true;
  std::list<Job> dropped;  // destroyed after the lock
  std::unique_lock lock(state_->mutex);
  if (!state_->is_stopping) state_->stop_asked = steady_clock::now();
  state_->is_stopping = true;
  if (drops_jobs) dropped.swap(state_->jobs);
  state_->wake.notify_one();
  return state_->changed.wait_until(lock, state_->stop_asked + patience,
                                    [&] { return !state_->has_thread; });
}

nanoseconds Worker::cpu() const noexcept {
  if (is_copy()) return nanoseconds(0);
  const std::scoped_lock lock(state_->mutex);
  const auto clock = state_->cpu_clock;
  const auto used = clock ? cpu_time(*clock) : std::nullopt;
  return used.value_or(state_->cpu_at_end);
}

Worker::PeriodicWork Worker::every(nanoseconds period, Job work) {
  return [schedule = Schedule(steady_clock::now(), period), work = std::move(work)]() mutable {
    if (steady_clock::now() < schedule.next()) return schedule.next();
    work();
    schedule.advance(steady_clock::now());
    return schedule.next();
  };
}

}  // namespace wattle
