// The one thread that serves everybody, as its users see it: tests have one in virtual time.
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
  /// Calls `work` once, at `when`; what was awaited before is not called any more.
  virtual void start(TimePoint when, Work work) = 0;
  virtual void cancel() = 0;
};

/// Waits for a descriptor that somebody else owns, and closes later than this. Threads: the loop's.
class Watch {
 public:
  virtual ~Watch() = default;
  /// Calls `work` once, when something can be read (or the other end is gone). One at a time.
  virtual void wait_readable(Work work) = 0;
  /// Likewise, when something can be written.
  virtual void wait_writable(Work work) = 0;
};

/// Threads: the loop's, except where it says any.
class Loop {
 public:
  virtual ~Loop() = default;
  [[nodiscard]] virtual TimePoint now() const = 0;
  /// Cancelled when it is destroyed.
  [[nodiscard]] virtual std::unique_ptr<Timer> make_timer() = 0;
  /// Nothing is called any more once it is destroyed. Null where the kernel has no memory for it.
  /// `fail` is called where it has none for a later wait, which is not called then.
  [[nodiscard]] virtual std::unique_ptr<Watch> watch(int fd, Work fail) = 0;
  /// Has the loop's thread do something. May outlive the loop: then nothing is done.
  /// Threads: any may make the call.
  using Poster = std::function<void(Work)>;
  [[nodiscard]] virtual Poster poster() = 0;
};

}  // namespace wattle::daemon
