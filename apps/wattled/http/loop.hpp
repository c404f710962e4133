// The interface of the event loop, whose thread serves all clients. Tests have one in virtual time.
#pragma once

#include <functional>
#include <memory>

#include "wattle/clock.hpp"

namespace wattle::daemon {

using Work = std::function<void()>;

/// Threads: the loop's.
class Timer {
 public:
  virtual ~Timer() = default;
  /// Calls `work` once, at `when`. Replaces an earlier `start`.
  virtual void start(TimePoint when, Work work) = 0;
  virtual void cancel() = 0;
};

/// Waits for a descriptor. Its owner closes it after this object is destroyed. Threads: the loop's.
class Watch {
 public:
  virtual ~Watch() = default;
  /// Calls `work` once, when the descriptor is readable or the other end is gone. One wait at a
  /// time.
  virtual void wait_readable(Work work) = 0;
  /// Likewise, when it is writable.
  virtual void wait_writable(Work work) = 0;
};

/// Threads: the loop's, except `Poster`.
class Loop {
 public:
  virtual ~Loop() = default;
  [[nodiscard]] virtual TimePoint now() const = 0;
  /// Destroying the timer cancels it.
  [[nodiscard]] virtual std::unique_ptr<Timer> make_timer() = 0;
  /// Destroying the watch cancels its waits. Null: the kernel has no memory for it. `fail` is
  /// called instead of the work of a later wait that the kernel refuses.
  [[nodiscard]] virtual std::unique_ptr<Watch> watch(int fd, Work fail) = 0;
  /// Runs work in the loop's thread. May outlive the loop: then it does nothing. Thread-safe.
  using Poster = std::function<void(Work)>;
  [[nodiscard]] virtual Poster poster() = 0;
};

}  // namespace wattle::daemon
