// The thread of whatever may hang: a driver, a file system, a name server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "wattle/clock.hpp"

namespace wattle {

/// Runs jobs one after the other, and a turn at its times, in a thread that receives no signals. A
/// thread that hangs is abandoned: jobs and turn own what they touch, and must not throw. After
/// `fork` the child's copy does nothing, and destroys nothing of what the thread uses.
/// Threads: any; the destructor after all others.
class Worker {
 public:
  using Job = std::function<void()>;
  /// Does what is due, and returns when it is to be called again: `TimePoint::max()` for not before
  /// `wake`. It may be called earlier than it asked for.
  using PeriodicWork = std::function<TimePoint()>;
  static constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

  /// The thread starts with the first job.
  Worker();
  /// The thread starts now, with `turn`. Throws `Error` ("cannot start PURPOSE: ...") if no thread
  /// can be started.
  Worker(PeriodicWork turn, std::string_view purpose);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  /// Stops, and waits for nothing.
  ~Worker();

  /// False, and nothing is done, if more than `most_waiting` jobs would wait, if no thread can be
  /// started, or after `stop`.
  [[nodiscard]] bool add(Job job, std::size_t most_waiting = kAnyNumber);
  /// The turn is called now. Allocates nothing.
  void wake() noexcept;

  /// Ends the thread: `stop` without the jobs that have not started, `finish` after them. Waits
  /// until it has ended, but no longer than `patience` from the first of such calls: then false. A
  /// thread that has ended holds no job and no turn.
  bool stop(std::chrono::nanoseconds patience) noexcept;
  bool finish(std::chrono::nanoseconds patience) noexcept;

  /// This is the copy of a child of the process that made it.
  [[nodiscard]] bool is_copy() const noexcept;
  /// The processor time that the thread has used so far.
  [[nodiscard]] std::chrono::nanoseconds cpu() const noexcept;

  /// Calls `work` every `period`, at absolute deadlines: those that have passed are not replayed.
  [[nodiscard]] static PeriodicWork every(std::chrono::nanoseconds period, Job work);

 private:
  struct State;
  static void start(const std::shared_ptr<State>& state);
  bool end(bool drops_jobs, std::chrono::nanoseconds patience) noexcept;

  std::shared_ptr<State> state_;
  std::uint64_t forks_;  ///< when it was made
};

/// Leaks what a forked child inherited: it is the parent's to destroy.
template <class T>
void leak(std::shared_ptr<T>& inherited) noexcept {
  static_cast<void>(new (std::nothrow) std::shared_ptr<T>(std::move(inherited)));
}

}  // namespace wattle
